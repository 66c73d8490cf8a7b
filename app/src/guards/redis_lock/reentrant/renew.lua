-- Prolongs the lock KEYS[1] by ARGV[1] ms if it is still held by ARGV[2]: 1, otherwise 0.
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
    redis.call('pexpire', KEYS[1], ARGV[1])
    return 1
end
return 0
