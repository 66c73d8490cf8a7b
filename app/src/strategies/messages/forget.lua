-- Deletes the hash KEYS[1] of the item ARGV[1], and its messages in the stream KEYS[2], whose length is limited.
redis.call('del', KEYS[1])
for _, message in ipairs(redis.call('xrange', KEYS[2], '-', '+')) do
    if message[2][2] == ARGV[1] then
        redis.call('xdel', KEYS[2], message[1])
    end
end
