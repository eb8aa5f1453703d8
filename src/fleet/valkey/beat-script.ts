import { script } from "./script";

/**
 * Notes the beat of a node. That of a primary counts if no later term has one, and if the changes of keys are complete:
 * a server that was started again has lost them. `seen` has the revision of these changes that each node has read.
 *
 * Keys: `nodes`, `seen`, `beat`, `rev`, `revoked`. Arguments: node, time in ms after which nodes are gone, last revision
 * that the node has read, term or empty, transaction, least complete revision. Answers: number of nodes; term, number
 * and transaction of the primary's beat; revision; changes of keys if the node has not read them; revisions by node.
 */
export const BEAT = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])) do
  redis.call('ZREM', KEYS[1], gone)
  redis.call('HDEL', KEYS[2], gone)
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
local rev = tonumber(redis.call('GET', KEYS[4]) or '0')
local term = tonumber(redis.call('HGET', KEYS[3], 'term') or '0')
if ARGV[4] ~= '' and tonumber(ARGV[4]) >= term and rev >= tonumber(ARGV[6]) then
  term = tonumber(ARGV[4])
  redis.call('HSET', KEYS[3], 'term', term, 'txid', ARGV[5])
  redis.call('HINCRBY', KEYS[3], 'number', 1)
end
local number = tonumber(redis.call('HGET', KEYS[3], 'number') or '0')
local txid = tonumber(redis.call('HGET', KEYS[3], 'txid') or '0')
local changes = {}
if rev ~= tonumber(ARGV[3]) then changes = redis.call('HGETALL', KEYS[5]) end
local nodes = redis.call('ZCARD', KEYS[1])
return {nodes, term, number, txid, rev, changes, redis.call('HGETALL', KEYS[2])}
`);

/** Names of the keys of `BEAT`. */
export const BEAT_KEYS = ["nodes", "seen", "beat", "rev", "revoked"];

/**
 * Adds changes of keys, kept for an hour after the last one, and tells the nodes.
 *
 * Keys: `revoked`, `rev`. Arguments: seconds, least revision before, name of the channel, then names and values.
 * Answers the revision.
 */
export const ADD_CHANGES = script(`
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[1])
local rev = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[2])) + 1
redis.call('SET', KEYS[2], rev)
redis.call('PUBLISH', ARGV[3], rev)
return rev
`);
