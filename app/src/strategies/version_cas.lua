-- Sets the counter KEYS[1] to ARGV[1] and enters the order ARGV[2] as ARGV[3] in KEYS[3], if KEYS[2] is still version
-- ARGV[4]. Then raises the version.
if redis.call('exists', KEYS[1]) == 0 then
    return 'closed'
end
if tonumber(redis.call('get', KEYS[2]) or '0') ~= tonumber(ARGV[4]) then
    return 'changed'
end
redis.call('set', KEYS[1], ARGV[1])
redis.call('incr', KEYS[2])
redis.call('hset', KEYS[3], ARGV[2], ARGV[3])
return 'put'
