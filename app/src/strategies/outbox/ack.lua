-- Ends the message ARGV[2] in KEYS[2], the stream of all messages, for the group ARGV[1], and takes it out. Answers how long it
-- was there in ms, or -1 where somebody else has ended it. KEYS[1] are the orders of its item that units were taken for.
redis.call('xack', KEYS[2], ARGV[1], ARGV[2])
if redis.call('xdel', KEYS[2], ARGV[2]) == 0 then
    return -1
end
if redis.call('exists', KEYS[1]) == 1 then
    redis.call('hincrby', KEYS[1], 'open', -1)
end
local time = redis.call('time')
return math.max(0, math.floor(time[1] * 1000 + time[2] / 1000 - string.match(ARGV[2], '^%d+')))
