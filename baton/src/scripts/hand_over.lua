-- A limit to what one process has in a row, to its message and to what a step of Redis takes.
local MOST_IN_A_ROW = 64

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
        local fences = string.match(first, '%d+$')
        if count > 1 then
            fences = count * fences
        end
        redis.call('set', owner, to, 'px', grace_ms)
        local told = string.format('%s %.0f %.0f %s', to, next_fence(fences), now_us(), owner)
        if redis.call('publish', 'baton:' .. string.match(first, '^[^:]+'), told) > 0 then
            return
        end
        to, first, count = first_in_queue()
    end
    redis.call('del', owner)
end
