-- Renews the lock KEYS[1] for ARGV[1] ms if ARGV[2] still holds it. Returns 1 if so, otherwise 0.
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
    redis.call('pexpire', KEYS[1], ARGV[1])
    return 1
end
return 0
