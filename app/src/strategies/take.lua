-- Takes ARGV[1] units for the order ARGV[2], once: KEYS[1] is the counter, KEYS[2] the orders that have taken units.
local left = tonumber(redis.call('get', KEYS[1]))
if not left then
    return {'unknown', 0}
end
if redis.call('sismember', KEYS[2], ARGV[2]) == 1 then
    return {'taken before', left}
end
if left < tonumber(ARGV[1]) then
    return {'sold out', left}
end
redis.call('sadd', KEYS[2], ARGV[2])
return {'taken', redis.call('decrby', KEYS[1], ARGV[1])}
