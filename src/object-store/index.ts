/**
 * Objects in a bucket of an S3-compatible server or in a folder. The operator names the place, so the rules for
 * private networks do not apply. Every call has a deadline. Errors name the store and the operation, never a secret.
 */
export {
  type ObjectStore,
  ObjectStoreError,
  type PutOptions,
  type StoreDependencies,
  type StoredObject,
} from "./model";
export { openObjectStore } from "./open";
