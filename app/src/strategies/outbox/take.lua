-- Takes ARGV[1] units for the order ARGV[2] and leaves its message ARGV[4], about the item ARGV[3], in one step and
-- once. KEYS[1] is the counter, KEYS[2] the orders of the item that have taken units, KEYS[3] the stream of all
-- messages, at most ARGV[5].
local left = tonumber(redis.call('get', KEYS[1]))
if not left then
    return {'unknown', 0}
end
if redis.call('hexists', KEYS[2], ARGV[2]) == 1 then
    return {'taken before', left}
end
if left < tonumber(ARGV[1]) then
    return {'sold out', left}
end
if redis.call('xlen', KEYS[3]) >= tonumber(ARGV[5]) then
    return {'no room', left}
end
redis.call('hset', KEYS[2], ARGV[2], '')
redis.call('hincrby', KEYS[2], 'open', 1)
redis.call('xadd', KEYS[3], '*', 'item', ARGV[3], 'order', ARGV[2], 'entry', ARGV[4])
return {'taken', redis.call('decrby', KEYS[1], ARGV[1])}
