-- Releases the lock KEYS[1] of ARGV[1], or gives up its place in the queue KEYS[2] with KEYS[3]. Then tells the next
-- waiter on its channel, whose name begins with KEYS[4]. Returns 1 when ARGV[1] held the lock, otherwise 0.
local held = 0
if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('del', KEYS[1])
    held = 1
end
if redis.call('hdel', KEYS[3], ARGV[1]) == 1 then
    redis.call('lrem', KEYS[2], 1, ARGV[1])
end
local first = redis.call('lindex', KEYS[2], 0)
if first and redis.call('exists', KEYS[1]) == 0 then
    redis.call('publish', KEYS[4] .. first, 'free')
end
return held
