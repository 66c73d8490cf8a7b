-- Returns what the segment KEYS[1] has, or false; what KEYS[2] says it gave to others and received from them; and how many
-- orders its ledger KEYS[3] has.
return { redis.call('get', KEYS[1]), redis.call('hgetall', KEYS[2]), redis.call('hlen', KEYS[3]) }
