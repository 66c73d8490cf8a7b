-- Takes ARGV[1] units for the saga ARGV[2], unless KEYS[3] says that it was compensated. KEYS[1] is the counter,
-- KEYS[2] has the units that open sagas of the item have taken. A second time changes nothing.
local left = tonumber(redis.call('get', KEYS[1]))
if not left then
    return {'unknown', 0}
end
if redis.call('exists', KEYS[3]) == 1 then
    return {'compensated', left}
end
if redis.call('hexists', KEYS[2], ARGV[2]) == 1 then
    return {'taken', left}
end
if left < tonumber(ARGV[1]) then
    return {redis.call('hlen', KEYS[2]) > 0 and 'may come back' or 'sold out', left}
end
redis.call('hset', KEYS[2], ARGV[2], ARGV[1])
return {'taken', redis.call('decrby', KEYS[1], ARGV[1])}
