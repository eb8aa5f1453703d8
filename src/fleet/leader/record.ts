import { OperatorError } from "../../db";
import type { ObjectStore } from "../../object-store";

/** Name of the leader record in the fleet's store. */
export const LEADER_KEY = "leader.json";

/** Record of the primary. Whoever has written its current entity tag is the primary. */
export interface LeaderRecord {
  term: number;
  /** Id of the primary's data directory. */
  node: string;
  /** Id of the primary's process. */
  run: string;
  /** URL by which other nodes reach the primary; null if it has none. */
  address: string | null;
  /** Beginning of the keys of the log that the primary writes. */
  prefix: string;
  /** End of the log of the term before; null in the first term. */
  previous: { term: number; prefix: string; txid: number } | null;
  /** Number of renewals in this term. */
  renewal: number;
  /** Version of Allclear. */
  version: string;
  /** Schema version of the database. */
  schema: number;
  /** True if the primary has handed over: any eligible replica may take the record at once. */
  released: boolean;
}

/** A leader record as it was read or written. */
export interface Leader {
  record: LeaderRecord;
  etag: string;
  /** True if an attempt to write it whose answer was lost may be older than the last one. */
  isFound?: boolean;
}

/** Returns the leader record; undefined if there is none. Throws an OperatorError for an unreadable one. */
export async function readLeader(store: ObjectStore): Promise<Leader | undefined> {
  const found = await store.get(LEADER_KEY);
  return found && { record: parseLeader(found.bytes, store.name), etag: found.etag };
}

/**
 * Writes the leader record if `before` is still the current one; undefined: if there is none. Returns "changed" if
 * another node has written it meanwhile. An answer that was lost does not matter: the record is read again, and its
 * process and number of renewals say who wrote it.
 */
export async function writeLeader(
  store: ObjectStore,
  before: Leader | undefined,
  record: LeaderRecord,
): Promise<Leader | "changed"> {
  const bytes = new TextEncoder().encode(`${JSON.stringify(record, null, 2)}\n`);
  const condition = before ? { ifMatch: before.etag } : { ifNoneMatch: true as const };
  const put = await store.put(LEADER_KEY, bytes, {
    type: "application/json",
    cacheControl: "no-store",
    ...condition,
  });
  if (put !== "changed") return { record, etag: put.etag };
  const current = await readLeader(store);
  const isWritten = current && isSameRun(current.record, record) && isSameRenewal(current, record);
  return isWritten ? { ...current, isFound: true } : "changed";
}

/** True if two records were written by one process in one term. */
export function isSameRun(a: LeaderRecord, b: LeaderRecord): boolean {
  return a.term === b.term && a.node === b.node && a.run === b.run;
}

function isSameRenewal({ record }: Leader, { prefix, renewal, released }: LeaderRecord): boolean {
  return record.renewal === renewal && record.prefix === prefix && record.released === released;
}

/** Returns the beginning of the keys of a log: the first of a term has the sequence 1. */
export function prefixOf(term: number, sequence: number): string {
  return `term-${String(term).padStart(6, "0")}-${sequence}`;
}

/** Returns the prefix of the log that follows within the same term. */
export function nextPrefix(prefix: string): string {
  const [, term, sequence] = PREFIX.exec(prefix) ?? [];
  return prefixOf(Number(term), Number(sequence) + 1);
}

const PREFIX = /^term-(\d{6,15})-(\d{1,9})$/;

/** Returns true for the beginning of the keys of a log. Prefixes are parts of paths. */
export function isPrefix(value: unknown): value is string {
  return typeof value === "string" && PREFIX.test(value);
}

/** Parses a leader record. Throws an OperatorError for anything else; `store` is the store's name. */
function parseLeader(bytes: Uint8Array, store: string): LeaderRecord {
  let parsed: Partial<LeaderRecord> | null = null;
  try {
    parsed = JSON.parse(new TextDecoder().decode(bytes)) as Partial<LeaderRecord> | null;
  } catch {
    // Reported below.
  }
  const { term, node, run, prefix, previous = null, renewal, schema } = parsed ?? {};
  const isValid =
    isCount(term) &&
    isCount(renewal) &&
    isCount(schema) &&
    typeof node === "string" &&
    typeof run === "string" &&
    isPrefix(prefix) &&
    (previous === null ||
      (isCount(previous.term) && isPrefix(previous.prefix) && isCount(previous.txid)));
  if (!isValid) {
    throw new OperatorError(
      `${LEADER_KEY} in ${store} is not a record of Allclear. Name another path in the store, or remove this object if no node uses it.`,
    );
  }
  const { address, version, released } = parsed as Partial<LeaderRecord>;
  return {
    term,
    node,
    run,
    address: typeof address === "string" ? address : null,
    prefix,
    previous,
    renewal,
    version: String(version),
    schema,
    released: released === true,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
