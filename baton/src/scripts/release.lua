-- Gives the lock back where nobody waits for it, or, without having it, the place in the queue up. Whether it was the lock.
if redis.call('get', owner) ~= token then
    redis.call('lrem', queue, 1, token)
    return 0
end
if redis.call('exists', queue) == 0 then
    return redis.call('del', owner)
end
