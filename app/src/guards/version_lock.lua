-- Puts value ARGV[1] at KEYS[1] for ARGV[3] ms, if version ARGV[2] is the current one: 'put', or 'another version'. An
-- entry that does not exist has no version to compare: the put succeeds, whatever it names, and makes version 1.
local version = redis.call('hget', KEYS[1], 'version')
if version and version ~= ARGV[2] then
    return 'another version'
end
redis.call('hset', KEYS[1], 'value', ARGV[1], 'version', (version or 0) + 1)
redis.call('pexpire', KEYS[1], ARGV[3])
return 'put'
