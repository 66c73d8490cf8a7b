-- Adds to the segment KEYS[1] what the segment ARGV[1] gave it: ARGV[2] units so far. KEYS[2] has how many of them came
-- before, less than 0, so that a second message of the same units adds none. Returns how many came now.
local from = 'from-' .. ARGV[1]
local came = ARGV[2] + (redis.call('hget', KEYS[2], from) or '0')
if came <= 0 then
    return 0
end
redis.call('hincrby', KEYS[2], from, -came)
redis.call('incrby', KEYS[1], came)
return came
