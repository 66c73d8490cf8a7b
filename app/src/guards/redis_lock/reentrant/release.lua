-- Leaves the lock KEYS[1] once as ARGV[2]. The last leave deletes the lock and publishes that on channel KEYS[2].
-- Returns nil when ARGV[2] does not hold the lock; otherwise how often it is still entered, for another ARGV[1] ms.
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then
    return nil
end
local entered = redis.call('hincrby', KEYS[1], ARGV[2], -1)
if entered > 0 then
    redis.call('pexpire', KEYS[1], ARGV[1])
    return entered
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], 'released')
return 0
