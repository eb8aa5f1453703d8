/**
 * API keys: their values, scopes, expiry and revocation, who used which when, and the directory in
 * memory that the front door looks credentials up in. A value is shown once and kept nowhere.
 */
export { createKeyDirectory, type Credential, type KeyDirectory } from "./directory";
export { type AnswerCounts, type KeyUsageSummary, usageOfKey } from "./hours";
export {
  countKeys,
  getKeyListing,
  type KeyCounts,
  type KeyListing,
  type KeyPage,
  type KeyQuery,
  listKeyPage,
} from "./listing";
export {
  type CreateKeyBody,
  DEFAULT_RATE_LIMIT,
  type KeyResource,
  OwnKey,
  type UpdateKeyBody,
} from "./model";
export { KEY_PRESETS, type KeyPreset } from "./presets";
export { trimKeyUse } from "./retention";
export {
  describeExpiry,
  EXPIRY_DAYS,
  type ExpiryDescription,
  expiryOfChoice,
  isExpiringSoon,
  keyState,
  KEY_FILTERS,
  type KeyFilter,
  missingScope,
  OVERLAPS,
  type Overlap,
  stateOfKey,
} from "./rules";
export { type Scope, SCOPE_NAMES, SCOPES } from "./scopes";
export {
  createKey,
  endOldValues,
  getKey,
  validateCreateKey,
  listAllKeys,
  type RevealedKey,
  revokeKey,
  rotateKey,
  updateKey,
} from "./service";
export { createKeyUsage, type KeyUsage } from "./usage";
export { isKeyValue } from "./value";
