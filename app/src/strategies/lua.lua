-- Sells ARGV[2] units: KEYS[1] is the counter, KEYS[2] the ledger, ARGV[1] the order id, ARGV[3] the ledger entry.
local left = tonumber(redis.call('get', KEYS[1]))
if left == nil then
    return {'unknown', 0, false}
end
local entry = redis.call('hget', KEYS[2], ARGV[1])
if entry then
    return {'repeated', left, entry}
end
local quantity = tonumber(ARGV[2])
if left < quantity then
    return {'sold out', left, false}
end
redis.call('hset', KEYS[2], ARGV[1], ARGV[3])
return {'sold', redis.call('decrby', KEYS[1], quantity), false}
