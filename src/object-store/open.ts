import type { StoreAddress, StoreCredentials } from "../base/store-address";
import { openFolder } from "./folder";
import type { ObjectStore, StoreDependencies } from "./object-store";
import { openBucket } from "./s3";

/** Opens a store without a request. A bucket requires credentials. */
export function openObjectStore(
  address: StoreAddress,
  credentials: StoreCredentials | undefined,
  deps: StoreDependencies,
): ObjectStore {
  if (address.kind === "folder") return openFolder(address, deps);
  if (credentials === undefined) throw new Error("a bucket requires credentials");
  return openBucket(address, credentials, deps);
}
