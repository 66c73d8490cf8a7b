-- Takes the lock of buyer ARGV[1] for owner ARGV[2] and order ARGV[4], for ARGV[3] ms: 'taken', 'held', or 'refused'
-- when the buyer has entered before, or ARGV[5] others have. KEYS[1] has the locks of the buyers, KEYS[2] the
-- times when they entered, KEYS[3] their orders. All three expire ARGV[6] s after the last entry.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The same order again is the same purchase, even if the buyer has another name.
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
