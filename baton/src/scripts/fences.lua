-- One in so many fences says that queue and fences are in use.
local SAID_EACH = 64

local function now_us()
    local time = redis.call('time')
    return time[1] * 1000000 + time[2]
end

-- Reserves so many fences, and says the first. The count begins with the server's time: were it lost with Redis' data, or not kept
-- because hardly anybody uses it, one from 1 would be refused for ever by a store that remembers a higher one.
local function next_fence(fences)
    local last = redis.call('incrby', last_fence, fences)
    fences = tonumber(fences)
    local is_first = last == fences
    if is_first then
        last = redis.call('incrby', last_fence, string.format('%.0f', now_us()))
    end
    if is_first or last % SAID_EACH < fences then
        redis.call('expire', queue, KEPT)
        redis.call('expire', last_fence, KEPT)
    end
    return last - fences + 1
end
