-- Sets the counter KEYS[1] to ARGV[1] and enters the order ARGV[2] as ARGV[3] in the ledger KEYS[2]. KEYS[3] holds the
-- highest fence that has written. Writes nothing if that is not ARGV[5] any more, or not below the caller's fence ARGV[4].
if redis.call('exists', KEYS[1]) == 0 then
    return 'closed'
end
if redis.call('hexists', KEYS[2], ARGV[2]) == 1 then
    return 'repeated'
end
local highest = redis.call('get', KEYS[3]) or '0'
if highest ~= ARGV[5] or tonumber(highest) >= tonumber(ARGV[4]) then
    return 'fenced'
end
redis.call('set', KEYS[1], ARGV[1])
redis.call('hset', KEYS[2], ARGV[2], ARGV[3])
redis.call('set', KEYS[3], ARGV[4])
return 'written'
