-- Takes the lock KEYS[1] for ARGV[1], for ARGV[2] ms, if it is free and no waiter is ahead: returns nil. Otherwise
-- keeps a place in the queue KEYS[2], and returns after how many ms to try again. KEYS[3] has the time until which each
-- waiter counts as alive. KEYS[4] begins the name of each waiter's channel.
local me, lease = ARGV[1], tonumber(ARGV[2])
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- A waiter that has not tried for one lease is dead.
local first = redis.call('lindex', KEYS[2], 0)
while first and tonumber(redis.call('hget', KEYS[3], first) or '0') <= now do
    redis.call('lpop', KEYS[2])
    redis.call('hdel', KEYS[3], first)
    first = redis.call('lindex', KEYS[2], 0)
end

local left = redis.call('pttl', KEYS[1])
if left == -2 and (not first or first == me) then
    redis.call('lrem', KEYS[2], 1, me)
    redis.call('hdel', KEYS[3], me)
    redis.call('set', KEYS[1], me, 'px', lease)
    return nil
end

if redis.call('hexists', KEYS[3], me) == 0 then
    redis.call('rpush', KEYS[2], me)
end
redis.call('hset', KEYS[3], me, now + lease)
redis.call('pexpire', KEYS[2], lease)
redis.call('pexpire', KEYS[3], lease)

local again = math.floor(lease / 3)
if left == -2 then
    -- The waiter that the release has told may have died since.
    redis.call('publish', KEYS[4] .. first, 'free')
elseif left >= 0 and left < again and (not first or first == me) then
    again = left
end
return math.max(again, 1)
