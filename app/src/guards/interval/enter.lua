-- Takes the lock of buyer ARGV[1] for ARGV[2], for ARGV[3] ms, on behalf of order ARGV[4]: 'taken', 'held', or 'refused' when
-- the buyer has entered in this interval, or ARGV[5] others have. KEYS[1] holds the locks of buyers, KEYS[2] when each of
-- them entered, KEYS[3] the orders that they entered for; all three for ARGV[6] s after the last one.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The same order once more is the same purchase, be it sent under another name.
local known = redis.call('sismember', KEYS[3], ARGV[4]) == 1
local full = redis.call('hlen', KEYS[2]) >= tonumber(ARGV[5])
if not known and (full or redis.call('hexists', KEYS[2], ARGV[1]) == 1) then
    return 'refused'
end
local held = redis.call('hget', KEYS[1], ARGV[1])
if held and tonumber(string.match(held, '^%d+')) > now then
    return 'held'
end
if not known then
    redis.call('hset', KEYS[2], ARGV[1], now)
    redis.call('sadd', KEYS[3], ARGV[4])
end
redis.call('hset', KEYS[1], ARGV[1], string.format('%.0f %s', now + ARGV[3], ARGV[2]))
for _, key in ipairs(KEYS) do
    redis.call('expire', key, ARGV[6])
end
return 'taken'
