-- Gives back the units of the saga ARGV[1], and returns 1 if it had any. In any case KEYS[3] keeps it from taking
-- later, for ARGV[2] ms. KEYS[1] is the counter, KEYS[2] has the units that open sagas of the item have taken.
redis.call('set', KEYS[3], '', 'px', ARGV[2])
local units = redis.call('hget', KEYS[2], ARGV[1])
if not units then
    return 0
end
if redis.call('exists', KEYS[1]) == 1 then
    redis.call('incrby', KEYS[1], units)
end
return redis.call('hdel', KEYS[2], ARGV[1])
