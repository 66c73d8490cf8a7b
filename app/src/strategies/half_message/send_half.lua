-- Keeps the half message ARGV[1], called ARGV[3] among those of all items, with the order ARGV[2] and its entry ARGV[6],
-- where no consumer sees it. KEYS[1] has the half messages of the item, KEYS[2] the times at which the broker asks back,
-- after ARGV[4] ms for the first time, KEYS[3] is the stream. Of all together there are at most ARGV[5].
if redis.call('zcard', KEYS[2]) + redis.call('xlen', KEYS[3]) >= tonumber(ARGV[5]) then
    return 'no room'
end
local time = redis.call('time')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
redis.call('hset', KEYS[1], ARGV[1], table.concat({now, ARGV[2], ARGV[6]}, ' '))
redis.call('hincrby', KEYS[1], 'open', 1)
redis.call('zadd', KEYS[2], string.format('%.0f', now + ARGV[4]), ARGV[3])
return 'sent'
