-- What all have in common. KEYS[1] is the owner: the token that has the lock, or several with commas, which have it one after the
-- other; KEYS[2] the queue of waiters' tokens, KEYS[3] the last fence given out; ARGV[1] is a token,
-- `instance:number:fences`, or an owner, ARGV[2] the grace in ms.
local owner, queue, last_fence = KEYS[1], KEYS[2], KEYS[3]
local token, grace_ms = ARGV[1], ARGV[2]

-- How long what nobody uses any more is kept, in seconds. A text, as is all that commands are given here: Redis takes longer to
-- make one of a number than for most commands.
local KEPT = '86400'
