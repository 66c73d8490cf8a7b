-- Takes a place at the end of the queue. Asked once more with ARGV[3] = 1 it changes nothing that holds already: the answer, or the
-- message that told of the lock, may have been lost. {owner, fence} or {place, lease ms, now}.
local is_again = ARGV[3] == '1'
local held_by = redis.call('get', owner)
-- By the waiter, or by others of its process together with it.
if is_again and held_by and string.find(',' .. held_by .. ',', ',' .. token .. ',', 1, true) then
    -- A question that was long on its way comes after a renewal.
    if redis.call('pttl', owner) < tonumber(grace_ms) then
        redis.call('pexpire', owner, grace_ms)
    end
    local _, commas = string.gsub(held_by, ',', ',')
    return {held_by, next_fence((commas + 1) * ARGV[4])}
end
local place = is_again and redis.call('lpos', queue, token)
if not place then
    place = redis.call('rpush', queue, token) - 1
    if place == 0 then
        redis.call('expire', queue, KEPT)
    end
end
-- The lease of an owner ended, and nobody gave the lock on.
if not held_by then
    hand_over()
end
return {place, redis.call('pttl', owner), now_us()}
