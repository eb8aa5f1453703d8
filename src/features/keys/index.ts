/**
 * API keys: their values, scopes, expiry, revocation and usage, and the directory in memory with
 * which the gateway looks up credentials. A value is shown once and never stored.
 */
export {
  createKeyDirectory,
  type Credential,
  type KeyDirectory,
  listCredentials,
} from "./directory";
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
export {
  createKeyUsage,
  type HourCounts,
  type KeyUsage,
  type KeyUse,
  storeKeyUses,
  trimKeyUse,
} from "./usage";
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
export { findKey } from "./store";
export { isKeyValue } from "./value";
