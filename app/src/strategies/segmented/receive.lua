-- Adds to the segment KEYS[1] what the segment ARGV[1] gave it: ARGV[2] units so far. KEYS[2] has how many of them came
-- before, so that a second message of the same units adds none. Returns how many came now.
local came = ARGV[2] - (redis.call('hget', KEYS[2], ARGV[1]) or '0')
if came <= 0 then
    return 0
end
redis.call('hset', KEYS[2], ARGV[1], ARGV[2])
redis.call('incrby', KEYS[1], came)
return came
