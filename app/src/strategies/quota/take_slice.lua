-- Sells ARGV[2] units of the counter KEYS[1], and adds the rest of a slice of ARGV[5] units to the slice ARGV[4] in KEYS[3]. Where the
-- counter has too few units, it sells from the slices of all. KEYS[2] is the ledger, ARGV[1] the order id, ARGV[3] the ledger entry.
-- Returns a word, an entry of the ledger, the units of the sale that are left, and those of the slice.
local counter = tonumber(redis.call('get', KEYS[1]))
if not counter then
    return {'unknown', '', 0, 0}
end
local entry = redis.call('hget', KEYS[2], ARGV[1])
if entry then
    return {'repeated', entry, 0, 0}
end
local left, slices = counter, redis.call('hgetall', KEYS[3])
for i = 2, #slices, 2 do
    left = left + tonumber(slices[i])
end
local quantity = tonumber(ARGV[2])
if left < quantity then
    return {'sold out', '', left, 0}
end
if counter >= quantity then
    local slice = math.min(counter, math.max(quantity, tonumber(ARGV[5])))
    redis.call('decrby', KEYS[1], slice)
    redis.call('hincrby', KEYS[3], ARGV[4], slice - quantity)
else
    local missing = quantity - counter
    redis.call('set', KEYS[1], 0)
    for i = 1, #slices, 2 do
        local units = math.min(missing, tonumber(slices[i + 1]))
        -- Redis takes -0 for no number, and does not undo the commands before it.
        if units > 0 then
            redis.call('hincrby', KEYS[3], slices[i], -units)
            missing = missing - units
        end
    end
end
redis.call('hset', KEYS[2], ARGV[1], ARGV[3])
return {'sold', '', left - quantity, tonumber(redis.call('hget', KEYS[3], ARGV[4]) or '0')}
