-- What the scripts share. KEYS[1] is the owner: the token that has the lock, or several with commas, which have it one after the
-- other; KEYS[2] the queue of waiters' tokens, KEYS[3] the last fence given out; ARGV[1] is a token,
-- `instance:number:fences`, or an owner, ARGV[2] the grace in ms.
local owner, queue, last_fence = KEYS[1], KEYS[2], KEYS[3]
local token, grace_ms = ARGV[1], ARGV[2]

-- A limit to what one process has in a row, to its message and to what a step of Redis takes.
local MOST_IN_A_ROW = 64

-- How long what nobody uses any more is kept, in seconds. A text, as is all that commands are given here: Redis takes longer to
-- make one of a number than for most commands.
local KEPT = '86400'

-- So seldom a hand-over says that queue and fences are in use.
local SAID_EACH = 64

local function now_us()
    local time = redis.call('time')
    return time[1] * 1000000 + time[2]
end

local function in_use()
    redis.call('expire', queue, KEPT)
    redis.call('expire', last_fence, KEPT)
end

-- Reserves as many fences as `count` waiters like `waiter` ask for, and says the first. The count begins with the server's time:
-- were it lost with Redis' data, one from 1 would be refused for ever by a store that remembers a higher one.
local function next_fence(waiter, count)
    local fences = string.match(waiter, '%d+$')
    if count > 1 then
        fences = count * fences
    end
    local last = redis.call('incrby', last_fence, fences)
    fences = tonumber(fences)
    if last == fences then
        last = redis.call('incrby', last_fence, string.format('%.0f', now_us()))
        in_use()
    elseif last % SAID_EACH < fences then
        in_use()
    end
    return last - fences + 1
end

local function grant(to, waiter, count)
    redis.call('set', owner, to, 'px', grace_ms)
    return next_fence(waiter, count)
end

-- Takes the first waiter from the queue, and with it those of its process right behind: nobody comes in between them, so that
-- they need no word of Redis to have the lock in this order. Says all, the first, and how many.
local function first_in_queue()
    local first = redis.call('lpop', queue)
    if not first then
        return
    end
    local process = string.match(first, '^[^:]+:')
    local waiters, count = first, 1
    while count < MOST_IN_A_ROW do
        local next = redis.call('lindex', queue, '0')
        if not next or string.sub(next, 1, #process) ~= process then
            break
        end
        waiters, count = waiters .. ',' .. redis.call('lpop', queue), count + 1
    end
    return waiters, first, count
end

-- Makes the first in the queue who still listen the owner, and tells them so. Without any the lock is free.
local function hand_over()
    local to, first, count = first_in_queue()
    while to do
        local fence = grant(to, first, count)
        local told = string.format('%s %.0f %.0f %s', to, fence, now_us(), owner)
        if redis.call('publish', 'baton:' .. string.match(first, '^[^:]+'), told) > 0 then
            return
        end
        to, first, count = first_in_queue()
    end
    redis.call('del', owner)
end
