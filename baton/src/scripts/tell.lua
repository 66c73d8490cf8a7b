-- Sends a message to a process. Returns how many connections received it.
local function tell(process, message)
    return redis.call('publish', 'baton:' .. process, message)
end
