-- Returns at most ARGV[1] overdue transactions of KEYS[1], the deadlines of all items.
local time = redis.call('time')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
return redis.call('zrangebyscore', KEYS[1], '-inf', now, 'limit', 0, ARGV[1])
