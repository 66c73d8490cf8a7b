-- Gives the lock of buyer ARGV[1] back, which KEYS[1] holds: 1 when it was still that of ARGV[2], otherwise 0.
local held = redis.call('hget', KEYS[1], ARGV[1])
if held and string.match(held, '%S+$') == ARGV[2] then
    return redis.call('hdel', KEYS[1], ARGV[1])
end
return 0
