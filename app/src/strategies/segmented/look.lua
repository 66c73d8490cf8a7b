-- Returns what the segment KEYS[1] has, or false; what KEYS[2] says it gave, and KEYS[3] it received, each by segment; and
-- how many orders its ledger KEYS[4] has.
return {
    redis.call('get', KEYS[1]),
    redis.call('hgetall', KEYS[2]),
    redis.call('hgetall', KEYS[3]),
    redis.call('hlen', KEYS[4]),
}
