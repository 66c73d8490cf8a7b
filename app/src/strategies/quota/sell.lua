-- Sells ARGV[2] units from the slice ARGV[4] in KEYS[3]. KEYS[1] is the counter, KEYS[2] the ledger, ARGV[1] the order id, ARGV[3] the
-- ledger entry. Returns a word, an entry of the ledger, the units of the sale that are left, and those of the slice.
local counter = tonumber(redis.call('get', KEYS[1]))
if not counter then
    return {'unknown', '', 0, 0}
end
local entry = redis.call('hget', KEYS[2], ARGV[1])
local units = tonumber(redis.call('hget', KEYS[3], ARGV[4]) or '0')
if entry then
    return {'repeated', entry, 0, units}
end
if units < tonumber(ARGV[2]) then
    return {'short', '', 0, units}
end
units = redis.call('hincrby', KEYS[3], ARGV[4], -ARGV[2])
redis.call('hset', KEYS[2], ARGV[1], ARGV[3])
local left = counter
for _, slice in ipairs(redis.call('hvals', KEYS[3])) do
    left = left + tonumber(slice)
end
return {'sold', '', left, units}
