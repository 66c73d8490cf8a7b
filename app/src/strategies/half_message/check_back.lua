-- Returns at most ARGV[1] half messages of KEYS[1] that the broker has heard nothing of in time. It asks again about each
-- of them after ARGV[2] ms.
local time = redis.call('time')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
local overdue = redis.call('zrangebyscore', KEYS[1], '-inf', now, 'limit', 0, ARGV[1])
for _, half in ipairs(overdue) do
    redis.call('zadd', KEYS[1], string.format('%.0f', now + ARGV[2]), half)
end
return overdue
