-- Returns the transaction of the order ARGV[1] in KEYS[1], the transactions of its item. If there is none, the sale was
-- closed: then ARGV[2] is removed from KEYS[2], the deadlines of all items.
local known = redis.call('hget', KEYS[1], ARGV[1])
if not known then
    redis.call('zrem', KEYS[2], ARGV[2])
end
return known
