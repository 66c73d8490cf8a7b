-- Joins the queue. A repeated question (ARGV[3] = 1) changes nothing that holds already: the answer, or the message
-- about the handoff, may have been lost. Returns {owner, fence} or {waiters before this one, lease in ms, now in us}.
local is_again = ARGV[3] == '1'
local held_by = redis.call('get', owner)
-- The waiter holds the lock, alone or together with others of its process.
if is_again and held_by and string.find(',' .. held_by .. ',', ',' .. token .. ',', 1, true) then
    -- A question that was delayed comes after a renewal, and must not shorten the lease.
    if redis.call('pttl', owner) < tonumber(grace_ms) then
        redis.call('pexpire', owner, grace_ms)
    end
    local _, commas = string.gsub(held_by, ',', ',')
    return {held_by, next_fence((commas + 1) * ARGV[4])}
end
local ahead = is_again and redis.call('lpos', queue, token)
if not ahead then
    ahead = redis.call('rpush', queue, token) - 1
    if ahead == 0 then
        redis.call('expire', queue, KEPT)
    end
end
-- The lease of an owner ended before it handed the lock off.
if not held_by then
    hand_off()
end
return {ahead, redis.call('pttl', owner), now_us()}
