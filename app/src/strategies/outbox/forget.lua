-- Forgets the orders of the item ARGV[1], KEYS[1], and takes its messages out of KEYS[2], the stream of all messages, which has
-- a limit to its length.
redis.call('del', KEYS[1])
for _, message in ipairs(redis.call('xrange', KEYS[2], '-', '+')) do
    if message[2][2] == ARGV[1] then
        redis.call('xdel', KEYS[2], message[1])
    end
end
