-- Extends each lock KEYS[i] that still belongs to ARGV[i + 1] to ARGV[1] ms from now. Returns 1 for each that it
-- extended, else 0.
local renewed = {}
for i, owner in ipairs(KEYS) do
    if redis.call('get', owner) == ARGV[i + 1] then
        renewed[i] = redis.call('pexpire', owner, ARGV[1])
    else
        renewed[i] = 0
    end
end
return renewed
