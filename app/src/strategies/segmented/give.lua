-- Takes units out of the segment KEYS[1] for the segment ARGV[1]: ARGV[2] units, or an eighth if that is more, so that the
-- next purchases there find some. KEYS[2] has how many each other segment was given so far, and KEYS[3] says that there are
-- segments, before the first of them has units. Returns how many that segment was given so far.
local units = tonumber(redis.call('get', KEYS[1]) or '0')
local given = math.min(units, math.max(tonumber(ARGV[2]), math.ceil(units / 8)))
local to = 'to-' .. ARGV[1]
if given <= 0 then
    return tonumber(redis.call('hget', KEYS[2], to) or '0')
end
redis.call('set', KEYS[3], ARGV[3])
redis.call('decrby', KEYS[1], given)
return redis.call('hincrby', KEYS[2], to, given)
