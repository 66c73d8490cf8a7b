-- Confirms the reservation of the order ARGV[1] if the transaction ARGV[2] holds it: it can no longer be cancelled, and
-- its order will be entered. A second time changes nothing. KEYS[1] has the transactions of the item, KEYS[2] the
-- deadlines of all items, where this one is called ARGV[3]. The order is overdue after ARGV[4] ms.
local known = redis.call('hget', KEYS[1], ARGV[1]) or ''
local state, transaction, since, order = string.match(known, '^(%a+) (%S+) (%d+) (.*)$')
if transaction ~= ARGV[2] then
    return 'refused'
end
if state == 'trying' then
    local time = redis.call('time')
    redis.call('hset', KEYS[1], ARGV[1], table.concat({'confirmed', transaction, since, order}, ' '))
    redis.call('hincrby', KEYS[1], 'trying', -1)
    redis.call('zadd', KEYS[2], string.format('%.0f', time[1] * 1000 + time[2] / 1000 + ARGV[4]), ARGV[3])
end
return 'confirmed'
