import { timingSafeEqual } from "node:crypto";
import { OperatorError } from "../../db/errors";
import type { ObjectStore } from "../../object-store/model";

/** Store of a fleet, with what is needed to read and write its leader record. */
export interface LeaderStore extends ObjectStore {
  /** Key of the signature of the record. */
  readonly signingKey: Uint8Array;
  /** Newest term that was read or written here. A record of an earlier one is refused. */
  newestTerm: number;
}

/** Makes an opened store one whose leader record is signed with the fleet secret. */
export function signRecords<Store extends ObjectStore>(
  store: Store,
  secret: string,
): Store & LeaderStore {
  const label = "allclear fleet leader record v1";
  const signingKey = new Bun.CryptoHasher("sha256", secret).update(label).digest();
  return Object.assign(store, { signingKey, newestTerm: 0 });
}

/** Returns a record with its signature: the HMAC-SHA256 of its canonical JSON, in hexadecimal digits. */
export function sign<T extends object>(
  record: T,
  { signingKey }: Pick<LeaderStore, "signingKey">,
): T & { signature: string } {
  return { ...record, signature: signatureOf(record, signingKey).toString("hex") };
}

/** Throws an OperatorError unless an object has the signature of this fleet. `name` is that of the object. */
export function requireSignature(
  signed: object,
  { signingKey, name: store }: Pick<LeaderStore, "signingKey" | "name">,
  name: string,
): void {
  const { signature, ...record } = signed as { signature?: unknown };
  if (signature === undefined) {
    throw new OperatorError(
      `${name} in ${store} is not signed. If an earlier version of Allclear wrote it, upgrade the primary first. If no node of this fleet did, remove it and start the primary.`,
    );
  }
  const given = Buffer.from(String(signature), "hex");
  const expected = signatureOf(record, signingKey);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new OperatorError(
    `${name} in ${store} is not signed with this fleet's secret: ALLCLEAR_FLEET_SECRET must be equal on all nodes. After a change of the secret, remove the object and start the primary first.`,
  );
}

function signatureOf(record: object, key: Uint8Array): Buffer {
  return new Bun.CryptoHasher("sha256", key).update(canonicalJson(record)).digest();
}

/** Returns JSON whose fields are in the order of their names, so that equal values have equal texts. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
