-- Sends a message to a process. Returns how many connections received it. In a cluster PUBLISH counts those of one node alone. A channel
-- in the slot of the lock has all its listeners on the node that runs this script.
local function tell(process, message)
    return redis.call('spublish', owner .. ':' .. process, message)
end
