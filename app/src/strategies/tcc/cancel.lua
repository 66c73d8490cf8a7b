-- Cancels the transaction ARGV[2] of the order ARGV[1] and gives its units back, unless it was confirmed. KEYS[4]
-- refuses a try that comes later, for ARGV[4] ms, also if nothing was reserved. KEYS[1] is the counter, KEYS[2] has the
-- transactions of the item, KEYS[3] the deadlines of all items, where this one is called ARGV[3].
local known = redis.call('hget', KEYS[2], ARGV[1]) or ''
local state, transaction, since, order = string.match(known, '^(%a+) (%S+) (%d+) (.*)$')
if transaction == ARGV[2] and state ~= 'trying' then
    return {state, 0}
end
redis.call('set', KEYS[4], '', 'px', ARGV[4])
if transaction ~= ARGV[2] then
    return {'empty', 0}
end
if redis.call('exists', KEYS[1]) == 1 then
    redis.call('incrby', KEYS[1], cjson.decode(order).quantity)
end
redis.call('hdel', KEYS[2], ARGV[1])
redis.call('hincrby', KEYS[2], 'trying', -1)
redis.call('hincrby', KEYS[2], 'open', -1)
redis.call('zrem', KEYS[3], ARGV[3])
local time = redis.call('time')
return {'cancelled', math.floor(time[1] * 1000 + time[2] / 1000 - since)}
