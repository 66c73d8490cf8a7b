-- The transaction of the order ARGV[1] among those of its item, KEYS[1]. Where there is none, its sale was closed, and it loses
-- its place ARGV[2] among the deadlines of all items, KEYS[2].
local known = redis.call('hget', KEYS[1], ARGV[1])
if not known then
    redis.call('zrem', KEYS[2], ARGV[2])
end
return known
