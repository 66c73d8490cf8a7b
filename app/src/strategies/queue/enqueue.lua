-- Puts the order ARGV[1] of the item ARGV[2], with its ledger entry ARGV[3] and the ticket ARGV[4], at the end of the queue KEYS[3],
-- which has at most ARGV[5] purchases. KEYS[1] is the counter, KEYS[2] the ledger, KEYS[4] has the items whose queues are not empty.
if redis.call('exists', KEYS[1]) == 0 then
    return {'unknown', ''}
end
local entry = redis.call('hget', KEYS[2], ARGV[1])
if entry then
    return {'repeated', entry}
end
if redis.call('xlen', KEYS[3]) >= tonumber(ARGV[5]) then
    return {'no room', ''}
end
redis.call('xadd', KEYS[3], '*', 'order', ARGV[1], 'entry', ARGV[3], 'ticket', ARGV[4])
redis.call('sadd', KEYS[4], ARGV[2])
return {'queued', ''}
