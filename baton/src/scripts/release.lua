-- Releases the lock if nobody waits for it. A token that does not hold the lock leaves the queue. Returns 1 for the
-- lock.
if redis.call('get', owner) ~= token then
    redis.call('lrem', queue, 1, token)
    return 0
end
if redis.call('exists', queue) == 0 then
    return redis.call('del', owner)
end
