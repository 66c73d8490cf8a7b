-- Ends the confirmed transaction of the order ARGV[1], which is in the ledger now. Returns how long it took in ms, or
-- -1 when it had ended before. KEYS[1] has the transactions of the item, KEYS[2] the deadlines of all items, where this
-- one is called ARGV[2].
local known = redis.call('hget', KEYS[1], ARGV[1]) or ''
local state, transaction, since = string.match(known, '^(%a+) (%S+) (%d+) ')
if state ~= 'confirmed' then
    return -1
end
redis.call('hset', KEYS[1], ARGV[1], table.concat({'completed', transaction, since, ''}, ' '))
redis.call('hincrby', KEYS[1], 'open', -1)
redis.call('zrem', KEYS[2], ARGV[2])
local time = redis.call('time')
return math.floor(time[1] * 1000 + time[2] / 1000 - since)
