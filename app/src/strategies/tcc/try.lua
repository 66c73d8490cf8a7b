-- Reserves ARGV[1] units for the order ARGV[2] and the transaction ARGV[3], unless KEYS[4] says that it was cancelled.
-- KEYS[1] is the counter, KEYS[2] has the transactions of the item, KEYS[3] the deadlines of all items, where this one
-- is called ARGV[4]. ARGV[5] is the lease in ms, ARGV[6] the ledger entry.
local left = tonumber(redis.call('get', KEYS[1]))
if not left then
    return {'unknown', 0}
end
local known = redis.call('hget', KEYS[2], ARGV[2])
if known then
    return {string.match(known, '^%a+'), left}
end
if redis.call('exists', KEYS[4]) == 1 then
    return {'cancelled', left}
end
if left < tonumber(ARGV[1]) then
    local trying = tonumber(redis.call('hget', KEYS[2], 'trying') or '0')
    return {trying > 0 and 'reserved' or 'sold out', left}
end
local time = redis.call('time')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
redis.call('hset', KEYS[2], ARGV[2], table.concat({'trying', ARGV[3], now, ARGV[6]}, ' '))
redis.call('hincrby', KEYS[2], 'trying', 1)
redis.call('hincrby', KEYS[2], 'open', 1)
redis.call('zadd', KEYS[3], string.format('%.0f', now + ARGV[5]), ARGV[4])
return {'tried', redis.call('decrby', KEYS[1], ARGV[1])}
