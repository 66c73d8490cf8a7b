-- Takes the lock KEYS[1] for ARGV[2], or enters it again, for ARGV[1] ms. Returns nil when taken, otherwise the ms that
-- the present lease still runs.
local free = redis.call('exists', KEYS[1]) == 0
if free or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[2], 1)
    redis.call('pexpire', KEYS[1], ARGV[1])
    return nil
end
return redis.call('pttl', KEYS[1])
