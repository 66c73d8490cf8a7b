-- Carries out what the writer with the token ARGV[1] has decided, if it still leads: sets the counter KEYS[1] to ARGV[3], and for each
-- purchase, from ARGV[5] on, enters its order in the ledger KEYS[2] if it was sold, leaves its answer in KEYS[5] and takes it out of
-- the queue KEYS[3]. KEYS[4] is the lease, which goes on for ARGV[2] ms, or ends with the queue. KEYS[6] has the items whose queues
-- are not empty, and ARGV[4] is this one.
if redis.call('get', KEYS[4]) ~= ARGV[1] then
    return 'another leads'
end
redis.call('set', KEYS[1], ARGV[3])
for i = 5, #ARGV, 5 do
    local id, order, entry, ticket, answer = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
    if entry ~= '' then
        redis.call('hset', KEYS[2], order, entry)
    end
    redis.call('hset', KEYS[5], ticket, answer)
    redis.call('xdel', KEYS[3], id)
end
if redis.call('xlen', KEYS[3]) > 0 then
    redis.call('pexpire', KEYS[4], ARGV[2])
    return 'more'
end
redis.call('del', KEYS[4])
redis.call('srem', KEYS[6], ARGV[4])
return 'empty'
