-- Sells ARGV[2] units of the segment KEYS[1]. KEYS[2] is its ledger, ARGV[1] the order id, ARGV[3] the ledger entry.
-- Returns a word, and an entry of the ledger or the units that the segment has left.
local entry = redis.call('hget', KEYS[2], ARGV[1])
if entry then
    return {'repeated', entry}
end
if tonumber(redis.call('get', KEYS[1]) or '0') < tonumber(ARGV[2]) then
    return {'short', ''}
end
redis.call('hset', KEYS[2], ARGV[1], ARGV[3])
return {'sold', redis.call('decrby', KEYS[1], ARGV[2])}
