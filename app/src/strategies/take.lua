-- Takes ARGV[1] units from the counter KEYS[1], if there are so many.
local left = tonumber(redis.call('get', KEYS[1]))
if not left then
    return {'unknown', 0}
end
if left < tonumber(ARGV[1]) then
    return {'sold out', left}
end
return {'taken', redis.call('decrby', KEYS[1], ARGV[1])}
