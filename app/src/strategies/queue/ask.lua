-- Takes the answer to the ticket ARGV[1] out of KEYS[1].
local answer = redis.call('hget', KEYS[1], ARGV[1])
redis.call('hdel', KEYS[1], ARGV[1])
return answer
