-- Gives the lock to the next waiter, or, without having it, the place in the queue up. Whether it was the lock.
if redis.call('get', owner) == token then
    hand_over()
    return 1
end
redis.call('lrem', queue, 1, token)
return 0
