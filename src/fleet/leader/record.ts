import { OperatorError } from "../../db/errors";
import { type LeaderStore, requireSignature, sign } from "./signature";

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

/** Node whose own record may lack a signature, since an earlier version wrote it. */
export interface RecordOwner {
  id: string;
  term: number | undefined;
}

/**
 * Returns the leader record; undefined if there is none. Throws an OperatorError for an unreadable one, for one of an
 * earlier term than was seen, and for one without the fleet's signature, unless it is that of `owner`.
 */
export async function readLeader(
  store: LeaderStore,
  owner?: RecordOwner,
): Promise<Leader | undefined> {
  const found = await store.get(LEADER_KEY);
  if (!found) return undefined;
  const { parsed, record } = parseLeader(found.bytes, store.name);
  const isOwn = owner !== undefined && isRecordOf(record, owner);
  if (!isOwn || parsed.signature !== undefined) requireSignature(parsed, store, LEADER_KEY);
  if (record.term < store.newestTerm) {
    throw new OperatorError(
      `${LEADER_KEY} in ${store.name} is of term ${record.term}, but term ${store.newestTerm} has begun: an earlier record was put in its place.`,
    );
  }
  store.newestTerm = record.term;
  return { record, etag: found.etag };
}

/** True if a record is that of a node's last term. */
export function isRecordOf({ node, term }: LeaderRecord, owner: RecordOwner): boolean {
  return node === owner.id && term === owner.term;
}

/**
 * Writes the leader record if `before` is still the current one; undefined: if there is none. Returns "changed" if
 * another node has written it meanwhile. An answer that was lost does not matter: the record is read again, and its
 * process and number of renewals say who wrote it.
 */
export async function writeLeader(
  store: LeaderStore,
  before: Leader | undefined,
  record: LeaderRecord,
): Promise<Leader | "changed"> {
  const bytes = new TextEncoder().encode(`${JSON.stringify(sign(record, store), null, 2)}\n`);
  const condition = before ? { ifMatch: before.etag } : { ifNoneMatch: true as const };
  const put = await store.put(LEADER_KEY, bytes, {
    type: "application/json",
    cacheControl: "no-store",
    ...condition,
  });
  if (put !== "changed") {
    store.newestTerm = Math.max(store.newestTerm, record.term);
    return { record, etag: put.etag };
  }
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

type ParsedRecord = Partial<LeaderRecord> & { signature?: unknown };

/** Parses a leader record. Throws an OperatorError for anything else; `store` is the store's name. */
function parseLeader(
  bytes: Uint8Array,
  store: string,
): { record: LeaderRecord; parsed: ParsedRecord } {
  let parsed: ParsedRecord | null = null;
  try {
    parsed = JSON.parse(new TextDecoder().decode(bytes)) as ParsedRecord | null;
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
  const { address, version, released } = parsed as ParsedRecord;
  const record = {
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
  return { record, parsed: parsed as ParsedRecord };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
