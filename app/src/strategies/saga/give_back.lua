-- Compensates what the saga ARGV[1] took; 1 if there was anything. Whether or not, KEYS[3] keeps it from taking later, for
-- ARGV[2] ms. KEYS[1] is the counter, KEYS[2] what was taken of the item by sagas that are not over.
redis.call('set', KEYS[3], '', 'px', ARGV[2])
local units = redis.call('hget', KEYS[2], ARGV[1])
if not units then
    return 0
end
if redis.call('exists', KEYS[1]) == 1 then
    redis.call('incrby', KEYS[1], units)
end
return redis.call('hdel', KEYS[2], ARGV[1])
