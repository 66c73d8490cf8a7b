-- The arguments of all scripts but the renewal.
-- KEYS[1], the owner: the token that holds the lock, or several with commas, which hold it one after the other.
-- KEYS[2]: the queue of waiting tokens. KEYS[3]: the last fence that was given out.
-- ARGV[1]: a token, `process:number:fences`, or an owner. ARGV[2]: the grace in ms.
local owner, queue, last_fence = KEYS[1], KEYS[2], KEYS[3]
local token, grace_ms = ARGV[1], ARGV[2]

-- How long unused keys stay, in seconds. A string, as every argument of a command here: to convert a number costs Redis
-- more time than most commands.
local KEPT = '86400'
