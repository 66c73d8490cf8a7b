-- Sells ARGV[2] units from the ARGV[4] segments in KEYS[3], segment ARGV[5] first. KEYS[1] is the counter, whose units
-- move into the segments, KEYS[2] the ledger, ARGV[1] the order id, ARGV[3] the ledger entry. Returns how many are
-- left, or why it does not sell.
local counter = tonumber(redis.call('get', KEYS[1]))
if not counter then
    return {'unknown'}
end
local entry = redis.call('hget', KEYS[2], ARGV[1])
if entry then
    return {'repeated', entry}
end
local quantity, segments, first = tonumber(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5])
if counter > 0 then
    for segment = 0, segments - 1 do
        local share = math.floor(counter / segments)
        if segment < counter % segments then
            share = share + 1
        end
        redis.call('hincrby', KEYS[3], segment, share)
    end
    redis.call('set', KEYS[1], 0)
end
local left = 0
for _, units in ipairs(redis.call('hvals', KEYS[3])) do
    left = left + tonumber(units)
end
if left < quantity then
    return {'sold out'}
end
local missing = quantity
for step = 0, segments - 1 do
    local segment = (first + step) % segments
    local units = math.min(missing, tonumber(redis.call('hget', KEYS[3], segment) or '0'))
    if units > 0 then
        redis.call('hincrby', KEYS[3], segment, -units)
        missing = missing - units
    end
end
redis.call('hset', KEYS[2], ARGV[1], ARGV[3])
return left - quantity
