-- Releases the lock of buyer ARGV[1] in KEYS[1]. Returns 1 when ARGV[2] still owned it, otherwise 0.
local held = redis.call('hget', KEYS[1], ARGV[1])
if held and string.match(held, '%S+$') == ARGV[2] then
    return redis.call('hdel', KEYS[1], ARGV[1])
end
return 0
