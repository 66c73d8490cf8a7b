-- Ends the half message ARGV[1] of the item ARGV[3], called ARGV[2] among those of all items: with ARGV[4] = 'commit' it
-- goes to the stream KEYS[3], where consumers see it, otherwise it is dropped. Returns how long it was half in ms, or -1
-- when it had ended before. KEYS[1] has the half messages of the item, KEYS[2] the times at which the broker asks back.
local half = redis.call('hget', KEYS[1], ARGV[1])
redis.call('zrem', KEYS[2], ARGV[2])
if not half then
    return -1
end
redis.call('hdel', KEYS[1], ARGV[1])
local since, order, entry = string.match(half, '^(%d+) (%S+) (.*)$')
if ARGV[4] == 'commit' then
    redis.call('xadd', KEYS[3], '*', 'item', ARGV[3], 'order', order, 'entry', entry)
else
    redis.call('hincrby', KEYS[1], 'open', -1)
end
local time = redis.call('time')
return math.max(0, math.floor(time[1] * 1000 + time[2] / 1000 - since))
