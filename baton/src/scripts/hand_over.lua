-- What the scripts share. KEYS[1] is the owner: the token that has the lock, or several with commas, which have it one after the
-- other; KEYS[2] the queue of waiters' tokens, KEYS[3] the last fence given out; ARGV[1] is a token,
-- `instance:number:fences`, or an owner, ARGV[2] the grace in ms.
local owner, queue, last_fence = KEYS[1], KEYS[2], KEYS[3]
local token, grace_ms = ARGV[1], ARGV[2]

-- A limit to what one process has in a row, to its message and to what a step of Redis takes.
local MOST_IN_A_ROW = 64

local function now_us()
    local time = redis.call('time')
    return time[1] * 1000000 + time[2]
end

local function process_of(waiter)
    return string.match(waiter, '^[^:]+')
end

-- Reserves as many fences as `to` asks for, and says the first. The count begins with the server's time: were it lost with
-- Redis' data, one from 1 would be refused for ever by a store that remembers a higher one.
local function next_fence(to)
    local last = tonumber(redis.call('get', last_fence)) or now_us()
    local _, commas = string.gsub(to, ',', ',')
    local count = (commas + 1) * string.match(to, '%d+$')
    redis.call('set', last_fence, string.format('%.0f', last + count), 'ex', 86400)
    return last + 1
end

local function grant(to)
    redis.call('set', owner, to, 'px', grace_ms)
    return next_fence(to)
end

-- Takes the first waiter from the queue, and with it those of its process right behind: nobody comes in between them, so that
-- they need no word of Redis to have the lock in this order.
local function first_in_queue()
    local first = redis.call('lpop', queue)
    if not first then
        return
    end
    local process, waiters = process_of(first), first
    for _ = 2, MOST_IN_A_ROW do
        local next = redis.call('lindex', queue, 0)
        if not next or process_of(next) ~= process then
            break
        end
        waiters = waiters .. ',' .. redis.call('lpop', queue)
    end
    return waiters, process
end

-- Makes the first in the queue who still listen the owner, and tells them so. Without any the lock is free.
local function hand_over()
    local to, process = first_in_queue()
    while to do
        local fence = grant(to)
        local told = string.format('%s %.0f %.0f %s', to, fence, now_us(), owner)
        if redis.call('publish', 'baton:' .. process, told) > 0 then
            return
        end
        to, process = first_in_queue()
    end
    redis.call('del', owner)
end

-- Whether the owner is `waiter`, or others of its process together with it.
local function is_among(waiter, held_by)
    return held_by and string.find(',' .. held_by .. ',', ',' .. waiter .. ',', 1, true)
end
