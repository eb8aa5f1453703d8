/**
 * API keys: their values, scopes, expiry and revocation, who used which when, and the directory in
 * memory that the front door looks credentials up in. A value is shown once and kept nowhere.
 */
export { createKeyDirectory, type Credential, type KeyDirectory } from "./directory";
export {
  type CreateKeyBody,
  DEFAULT_RATE_LIMIT,
  type KeyResource,
  OwnKey,
  type UpdateKeyBody,
} from "./model";
export { judgeKey, missingScope, OVERLAPS, type Overlap } from "./rules";
export { type Scope, SCOPE_NAMES, SCOPES } from "./scopes";
export {
  createKey,
  getKey,
  judgeCreateKey,
  listAllKeys,
  type RevealedKey,
  revokeKey,
  rotateKey,
  updateKey,
} from "./service";
export { createKeyUsage, type KeyUsage } from "./usage";
export { containsKeyShape, isKeyValue } from "./value";
