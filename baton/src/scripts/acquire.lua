-- Takes the lock, or a place at the end of the queue. Asked once more with ARGV[3] = 1 it changes nothing that holds already:
-- the answer, or the message that told of the lock, may have been lost. {owner, fence} or {place, lease ms, now}.
local held_by = redis.call('get', owner)
if is_among(token, held_by) then
    -- A question that was long on its way comes after a renewal.
    if redis.call('pttl', owner) < tonumber(grace_ms) then
        redis.call('pexpire', owner, grace_ms)
    end
    return {held_by, next_fence(held_by)}
end
if not held_by and redis.call('llen', queue) == 0 then
    return {token, grant(token)}
end
local place = ARGV[3] == '1' and redis.call('lpos', queue, token)
if not place then
    place = redis.call('rpush', queue, token) - 1
    redis.call('expire', queue, 86400)
end
-- The lease of an owner ended, and nobody gave the lock on.
if not held_by then
    hand_over()
end
return {place, redis.call('pttl', owner), now_us()}
