-- Takes a free lock for which nobody waits, and returns the first fence. This is the most frequent case, so it comes
-- before all other preparations. ARGV[4] is the number of fences that the token asks for: to pass it is faster than to
-- parse the token.
if redis.call('llen', queue) == 0 and redis.call('set', owner, token, 'nx', 'px', grace_ms) then
    return next_fence(ARGV[4])
end
