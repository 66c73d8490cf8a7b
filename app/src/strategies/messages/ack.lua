-- Acknowledges the message ARGV[2] in the stream KEYS[2] for the group ARGV[1], and deletes it. Returns how long it was
-- there in ms, or -1 when it was deleted before. KEYS[1] is the hash of its item.
redis.call('xack', KEYS[2], ARGV[1], ARGV[2])
if redis.call('xdel', KEYS[2], ARGV[2]) == 0 then
    return -1
end
if redis.call('exists', KEYS[1]) == 1 then
    redis.call('hincrby', KEYS[1], 'open', -1)
end
local time = redis.call('time')
return math.max(0, math.floor(time[1] * 1000 + time[2] / 1000 - string.match(ARGV[2], '^%d+')))
