-- What the scripts share. KEYS[1] is the owner's token, KEYS[2] the queue of waiters' tokens, KEYS[3] the last fence given out;
-- ARGV[1] is a token, `instance:number:fences`, ARGV[2] the grace in ms.
local owner, queue, last_fence = KEYS[1], KEYS[2], KEYS[3]
local token, grace_ms = ARGV[1], ARGV[2]

local function now_us()
    local time = redis.call('time')
    return time[1] * 1000000 + time[2]
end

-- Reserves as many fences as `to` asks for, and says the first. The count begins with the server's time: were it lost with
-- Redis' data, one from 1 would be refused for ever by a store that remembers a higher one.
local function next_fence(to)
    local last = tonumber(redis.call('get', last_fence)) or now_us()
    local count = tonumber(string.match(to, '%d+$'))
    redis.call('set', last_fence, string.format('%.0f', last + count), 'ex', 86400)
    return last + 1
end

local function grant(to)
    redis.call('set', owner, to, 'px', grace_ms)
    return next_fence(to)
end

-- Makes the first waiter that still listens the owner, and tells it so. Without one the lock is free.
local function hand_over()
    local to = redis.call('lpop', queue)
    while to do
        local fence = grant(to)
        local told = string.format('%s %.0f %.0f %s', to, fence, now_us(), owner)
        if redis.call('publish', 'baton:' .. string.match(to, '^[^:]+'), told) > 0 then
            return to, fence
        end
        to = redis.call('lpop', queue)
    end
    redis.call('del', owner)
end
