-- Most find the lock free and nobody before them: nothing else is prepared for that. ARGV[4] is how many fences it needs, for which
-- it would take longer to look into the token. The first of them.
if redis.call('llen', queue) == 0 and redis.call('set', owner, token, 'nx', 'px', grace_ms) then
    return next_fence(ARGV[4])
end
