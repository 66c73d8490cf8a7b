-- Sells to each who can be served, in order: KEYS[1] is the counter, KEYS[2] the ledger. Of each purchase ARGV has the order
-- id, the quantity and the ledger entry. Answers for each how many are left, or why it is not sold to.
local opened = tonumber(redis.call('get', KEYS[1]))
local ids = {}
for at = 1, #ARGV, 3 do
    ids[#ids + 1] = ARGV[at]
end
local found = redis.call('hmget', KEYS[2], unpack(ids))
local left, made, record, answers = opened, {}, {}, {}
for n, id in ipairs(ids) do
    local quantity, entry = tonumber(ARGV[3 * n - 1]), found[n] or made[id]
    if left == nil then
        answers[n] = {'unknown'}
    elseif entry then
        answers[n] = {'repeated', entry}
    elseif left < quantity then
        answers[n] = {'sold out'}
    else
        left = left - quantity
        made[id] = ARGV[3 * n]
        record[#record + 1] = id
        record[#record + 1] = made[id]
        answers[n] = left
    end
end
if #record > 0 then
    redis.call('hset', KEYS[2], unpack(record))
    redis.call('decrby', KEYS[1], opened - left)
end
return answers
