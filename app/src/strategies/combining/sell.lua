-- Sells to each purchase that can be served, in order. KEYS[1] is the counter, KEYS[2] the ledger. ARGV has the order
-- id, the quantity and the ledger entry of each purchase. Returns for each how many are left, or why it is not sold to.
local opened = tonumber(redis.call('get', KEYS[1]))

-- A purchase without a key has a random id (UUID version 4, by its 15th character): it has no order yet.
local RANDOM = string.byte('4')
local may_be_there = {}
for at = 1, #ARGV, 3 do
    if string.byte(ARGV[at], 15) ~= RANDOM then
        may_be_there[#may_be_there + 1] = ARGV[at]
    end
end
local entries = {}
if #may_be_there > 0 then
    local found = redis.call('hmget', KEYS[2], unpack(may_be_there))
    for n, id in ipairs(may_be_there) do
        entries[id] = found[n]
    end
end

local left, record, answers = opened, {}, {}
for at = 1, #ARGV, 3 do
    local id, quantity = ARGV[at], tonumber(ARGV[at + 1])
    local answer
    if left == nil then
        answer = {'unknown'}
    elseif entries[id] then
        answer = {'repeated', entries[id]}
    elseif left < quantity then
        answer = {'sold out'}
    else
        left = left - quantity
        entries[id] = ARGV[at + 2]
        record[#record + 1] = id
        record[#record + 1] = ARGV[at + 2]
        answer = left
    end
    answers[#answers + 1] = answer
end
if #record > 0 then
    redis.call('hset', KEYS[2], unpack(record))
    redis.call('decrby', KEYS[1], opened - left)
end
return answers
