-- The expiry of the queue and of the fences is renewed once in this many fences.
local EXPIRE_EACH = 64

local function now_us()
    local time = redis.call('time')
    return time[1] * 1000000 + time[2]
end

-- Reserves this many fences, and returns the first. The count begins with the server's time. Redis may lose the key, or
-- expire it; a count from 1 would then stay below the fence that a store remembers, and the store would refuse every
-- write.
local function next_fence(fences)
    local last = redis.call('incrby', last_fence, fences)
    fences = tonumber(fences)
    local is_first = last == fences
    if is_first then
        last = redis.call('incrby', last_fence, string.format('%.0f', now_us()))
    end
    if is_first or last % EXPIRE_EACH < fences then
        redis.call('expire', queue, KEPT)
        redis.call('expire', last_fence, KEPT)
    end
    return last - fences + 1
end
