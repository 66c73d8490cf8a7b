-- Sells ARGV[2] units: KEYS[1] is the counter, KEYS[2] the ledger, ARGV[1] the order id, ARGV[3] the ledger entry.
-- Returns how many are left, or why it does not sell.
local left = tonumber(redis.call('get', KEYS[1]))
if left == nil then
    return {'unknown'}
end
local quantity = tonumber(ARGV[2])
-- HSETNX also tells whether the order exists.
if left >= quantity and redis.call('hsetnx', KEYS[2], ARGV[1], ARGV[3]) == 1 then
    return redis.call('decrby', KEYS[1], quantity)
end
local entry = redis.call('hget', KEYS[2], ARGV[1])
if entry then
    return {'repeated', entry}
end
return {'sold out'}
