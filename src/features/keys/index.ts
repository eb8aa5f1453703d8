/**
 * API keys: their values, scopes, expiry and revocation, who used which when, and the directory in
 * memory that the front door looks credentials up in. A value is shown once and kept nowhere.
 */
export { createKeyDirectory, type Credential, type KeyDirectory } from "./directory";
export {
  countKeys,
  getKeyListing,
  type KeyCounts,
  type KeyListing,
  type KeyQuery,
  type KeyUsageSummary,
  listKeyPage,
  usageOfKey,
} from "./listing";
export {
  type CreateKeyBody,
  DEFAULT_RATE_LIMIT,
  type KeyResource,
  type UpdateKeyBody,
} from "./model";
export { KEY_PRESETS, type Scope, SCOPE_NAMES, SCOPES } from "./scopes";
export { createKeyUsage, type KeyUsage, trimKeyUse } from "./usage";
export {
  describeExpiry,
  EXPIRY_DAYS,
  expiryOfChoice,
  isExpiringSoon,
  KEY_FILTERS,
  type KeyFilter,
  keyState,
  missingScope,
  type Overlap,
  OVERLAPS,
  stateOfKey,
} from "./rules";
export {
  createKey,
  endOldValues,
  getKey,
  listAllKeys,
  type RevealedKey,
  revokeKey,
  rotateKey,
  updateKey,
  validateCreateKey,
} from "./service";
export { isKeyValue } from "./value";
