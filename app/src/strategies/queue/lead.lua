-- Makes the writer with the token ARGV[1] the only one of the item ARGV[4] for ARGV[2] ms, and reads the first ARGV[3] purchases of
-- the queue KEYS[3], each with the order that it made before and its age in ms. KEYS[1] is the counter, KEYS[2] the ledger, KEYS[4] the
-- lease, KEYS[5] has the items whose queues are not empty.
local left = redis.call('get', KEYS[1])
if not left then
    redis.call('del', KEYS[3])
    redis.call('srem', KEYS[5], ARGV[4])
    return {'closed', 0, {}}
end
local writer = redis.call('get', KEYS[4])
if writer and writer ~= ARGV[1] then
    return {'another leads', 0, {}}
end
redis.call('set', KEYS[4], ARGV[1], 'px', ARGV[2])
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local purchases = {}
for _, message in ipairs(redis.call('xrange', KEYS[3], '-', '+', 'count', ARGV[3])) do
    local order, entry, ticket = message[2][2], message[2][4], message[2][6]
    local before = redis.call('hget', KEYS[2], order) or ''
    local age = math.max(0, math.floor(now - string.match(message[1], '^%d+')))
    table.insert(purchases, {message[1], order, entry, ticket, before, age})
end
return {'leads', tonumber(left), purchases}
