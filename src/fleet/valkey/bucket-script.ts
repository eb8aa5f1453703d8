import { script } from "./script";

/**
 * Gives tokens back to a bucket and takes others from it, by the server's clock. The bucket is a text of the tokens
 * spent and the time in ms at which that was exact, as in `features/limits/bucket.ts`.
 *
 * Arguments: limit, wanted tokens, tokens given back, nodes, tokens for requests that wait. Answers: tokens granted,
 * whole tokens left in the bucket, and ms until there is one. A node gets what its waiting requests need, and else at
 * most a quarter of its share of what is left.
 */
export const TAKE_TOKENS = script(`
local limit = tonumber(ARGV[1])
local wanted = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local spent = 0
local stored = redis.call('GET', KEYS[1])
if stored then
  local was, at = string.match(stored, '^(%S+) (%S+)$')
  spent = tonumber(was) - math.max(0, now - tonumber(at)) * limit / 60000
end
spent = math.max(0, math.min(spent, limit) - tonumber(ARGV[3]))
local free = math.floor(limit - spent + 0.000001)
local granted = 0
if free > 0 then
  local share = math.max(1, math.floor(free / (4 * tonumber(ARGV[4]))))
  granted = math.min(wanted, free, math.max(share, tonumber(ARGV[5])))
end
spent = spent + granted
if spent > 0 then
  local value = string.format('%.6f %.3f', spent, now)
  redis.call('SET', KEYS[1], value, 'PX', math.ceil(spent / limit * 60000))
elseif stored then
  redis.call('DEL', KEYS[1])
end
local wait = math.max(0, math.ceil((spent + 1 - limit) / limit * 60000))
return {granted, math.floor(limit - spent + 0.000001), wait}
`);
