import { script } from "./script";

/**
 * Gives tokens back to a bucket and takes others from it, by the server's clock. The bucket is a text of the tokens
 * taken and the time in µs at which the first of them was, with which the minute begins; that time is the minute's
 * name. If the clock goes back, a minute ends at most 60 s later.
 *
 * Arguments: limit, wanted tokens, tokens given back, name of their minute, nodes, tokens for requests that wait. Tokens
 * of another minute are not taken back. Answers: tokens granted, tokens left in the bucket (negative if the limit was
 * lowered below those taken), ms until it is filled again, with three decimals, and the name of the minute. A node gets
 * what its waiting requests need, and else at most a quarter of its share of what is left.
 */
export const TAKE_TOKENS = script(`
local limit = tonumber(ARGV[1])
local wanted = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local taken = 0
local begun = now
local stored = redis.call('GET', KEYS[1])
if stored then
  local count, name = string.match(stored, '^(%d+) (%d+)$')
  if now - tonumber(name) < 60000000 then
    taken = tonumber(count)
    if name == ARGV[4] then taken = math.max(0, taken - tonumber(ARGV[3])) end
    if taken > 0 then begun = math.min(tonumber(name), now) end
  end
end
local free = math.max(0, limit - taken)
local granted = 0
if free > 0 then
  local share = math.max(1, math.floor(free / (4 * tonumber(ARGV[5]))))
  granted = math.min(wanted, free, math.max(share, tonumber(ARGV[6])))
end
taken = taken + granted
local refill = (begun + 60000000 - now) / 1000
local minute = string.format('%.0f', begun)
if taken > 0 then
  redis.call('SET', KEYS[1], string.format('%.0f', taken) .. ' ' .. minute, 'PX', math.ceil(refill))
elseif stored then
  redis.call('DEL', KEYS[1])
end
return {granted, limit - taken, string.format('%.3f', refill), minute}
`);
