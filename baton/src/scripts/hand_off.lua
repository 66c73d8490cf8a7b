-- The most waiters of one process that get the lock together. It limits the message, and the time that one script
-- takes.
local MOST_IN_A_ROW = 64

-- Takes the first waiter from the queue, and with it the waiters of its process right behind it. Nobody is between
-- them, so they can pass the lock on in this order without Redis. Returns all of them, the first, and their number.
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

-- Gives the lock to the first waiters whose process listens, and tells that process. Without any the lock is free.
local function hand_off()
    local to, first, count = first_in_queue()
    while to do
        local fences = string.match(first, '%d+$')
        if count > 1 then
            fences = count * fences
        end
        redis.call('set', owner, to, 'px', grace_ms)
        local message = string.format('%s %.0f %.0f %s', to, next_fence(fences), now_us(), owner)
        if tell(string.match(first, '^[^:]+'), message) > 0 then
            return
        end
        to, first, count = first_in_queue()
    end
    redis.call('del', owner)
end
