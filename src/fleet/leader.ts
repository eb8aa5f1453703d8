/*
 * The record of the primary in the store: the lease of the node that wrote it, its claim and signature, and the watch
 * of the other nodes.
 */
import { timingSafeEqual } from "node:crypto";
import type { Clock, Timer } from "../base/clock";
import { unavailable } from "../base/errors";
import type { Log } from "../base/log";
import { createSignal, type Signal } from "../base/signal";
import { isObject } from "../base/text";
import { SECOND_MS } from "../base/time";
import type { DataDirectory } from "../db/data-directory";
import { OperatorError } from "../db/errors";
import { SCHEMA_VERSION } from "../db/migrations";
import type { Alarms } from "../features/alarms/alarms";
import type { ObjectStore } from "../object-store/object-store";
import { VERSION } from "../version";
import { type FleetNode, writeNode } from "./node";

/** Interval of renewals. */
const RENEW_MS = 5_000;
/** Pause after a failed renewal. */
const RETRY_MS = 1_000;
/** Time after the beginning of the last confirmed renewal in which no other node can take over. */
const HELD_MS = 10_000;
/** Difference between the two clocks of this machine after which it may have been paused. */
const JUMP_MS = 2_000;

/** Right of one process to write, check and send, for as long as the leader record is its own. */
export interface Lease {
  /** The record as this process last wrote it. */
  readonly record: LeaderRecord;
  /** True while this process may write, and begin checks, deliveries, mails and steps of the clock. */
  isHeld(): boolean;
  /** Throws `unavailable` unless the lease is held. */
  requireHeld(): void;
  /**
   * Reads the record. Resolves to it if it is still this process's own, and to undefined otherwise. Rejects if the
   * store does not answer.
   */
  confirm(): Promise<LeaderRecord | undefined>;
  /** Writes changes of the record. Resolves to false if it belongs to another process. */
  change(
    changes: Partial<Pick<LeaderRecord, "prefix" | "previous" | "released">>,
  ): Promise<boolean>;
  /** Time in ms until the process stops by itself; infinite if it does not. */
  leftMs(): number;
  /** Emitted once, when another process has written the record. */
  lost: Signal<void>;
  /** Emitted when the lease is held again after a pause. */
  regained: Signal<void>;
  /** Ends the renewals. Waits for one that is under way. */
  stop(): Promise<void>;
}

interface LeaseDependencies {
  store: LeaderStore;
  clock: Clock;
  log: Log;
  alarms: Pick<Alarms, "raise" | "clear">;
  /** True if another node takes over by itself when this one does not renew. */
  isAutomatic: boolean;
}

/**
 * Keeps the leader record that this process has just written; `writtenAt` is the beginning of that write on the
 * monotonic clock. With automatic failover the lease ends by itself 10 s after the beginning of the last confirmed
 * renewal, and while the wall clock has jumped against the monotonic one, since the machine may have been paused.
 */
export function holdLease(
  { store, clock, log, alarms, isAutomatic }: LeaseDependencies,
  written: Leader,
  writtenAt: number,
): Lease {
  const lost = createSignal<void>();
  const regained = createSignal<void>();
  let leader = written;
  let renewedAt = writtenAt;
  let offset = clock.now() - clock.monotonic();
  let isLost = false;
  let isStopped = false;
  let wasHeld = true;
  let timer: Timer | undefined;
  /** The last write of the record. Writes follow each other, since each needs the entity tag of the one before. */
  let writing: Promise<unknown> = Promise.resolve();

  const hasJumped = () => Math.abs(clock.now() - clock.monotonic() - offset) > JUMP_MS;

  function isHeld(): boolean {
    if (isLost || !isAutomatic) return !isLost;
    return clock.monotonic() - renewedAt < HELD_MS && !hasJumped();
  }

  function lose(): void {
    if (isLost) return;
    isLost = true;
    timer?.cancel();
    log.error({ term: leader.record.term }, "another node is the primary; this one has stopped");
    lost.emit();
  }

  async function write(changes: Partial<LeaderRecord>): Promise<boolean> {
    if (isLost) return false;
    const record = { ...leader.record, ...changes, renewal: leader.record.renewal + 1 };
    const beganAt = clock.monotonic();
    const beganOffset = clock.now() - beganAt;
    const next = await writeLeader(store, leader, record);
    if (next === "changed") {
      lose();
      return false;
    }
    leader = next;
    // Other nodes may have waited since an earlier attempt: only another write shows when the lease begins again.
    if (next.isFound) return write(changes);
    renewedAt = beganAt;
    offset = beganOffset;
    alarms.clear("lease_renewal");
    return true;
  }

  function change(changes: Partial<LeaderRecord>): Promise<boolean> {
    const next = writing.catch(() => {}).then(() => write(changes));
    writing = next;
    return next;
  }

  async function renew(): Promise<void> {
    let waitMs = RENEW_MS;
    const wasPaused = !isHeld();
    try {
      await change({});
      if (isHeld() && (wasPaused || !wasHeld)) regained.emit();
      wasHeld = isHeld();
    } catch (error) {
      waitMs = RETRY_MS;
      wasHeld = isHeld();
      const consequence = isAutomatic ? " and stops after 10 s" : "";
      alarms.raise(
        "lease_renewal",
        `The primary cannot renew its record${consequence}: ${(error as Error).message}`,
      );
    }
    schedule(waitMs);
  }

  function schedule(waitMs: number): void {
    if (isLost || isStopped) return;
    timer = clock.after(waitMs, () => void renew());
  }

  schedule(RENEW_MS);
  return {
    get record() {
      return leader.record;
    },
    isHeld,
    requireHeld() {
      if (!isHeld()) throw notPrimary();
    },
    async confirm() {
      if (isLost) return undefined;
      const current = await readLeader(store);
      if (current && isSameRun(current.record, leader.record)) return current.record;
      lose();
      return undefined;
    },
    change,
    leftMs() {
      if (isLost) return 0;
      return isAutomatic ? Math.max(0, renewedAt + HELD_MS - clock.monotonic()) : Infinity;
    },
    lost,
    regained,
    async stop() {
      isStopped = true;
      timer?.cancel();
      await writing.catch(() => {});
    },
  };
}

/** Error of a write while another node may be the primary. */
export function notPrimary(): Error {
  return unavailable("This server is not the primary now, so nothing was changed. Try again.", 5);
}

/** Outcome of a claim: the record is this process's own, or another node has begun a later term. */
export type Claim =
  | { kind: "held"; leader: Leader; writtenAt: number }
  | { kind: "superseded"; by: LeaderRecord; term: number };

interface Claimant {
  directory: DataDirectory;
  node: FleetNode;
  /** Id of this process. */
  run: string;
  /** URL by which other nodes reach this one. */
  address: string | null;
  /** Last term in the database; 0 without one. */
  lastTerm: number;
}

/** Attempts if other nodes write the record at the same time. */
const ATTEMPTS = 5;

/**
 * Makes this process the primary: of a new fleet if there is no record, or again after a restart. Throws an
 * OperatorError if the fleet has another primary and this data directory never was its primary's.
 */
export async function claimLeadership(
  store: LeaderStore,
  clock: Clock,
  claimant: Claimant,
): Promise<Claim> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const current = await readLeader(store, claimant.node);
    const superseded = current && compareTerms(current.record, claimant, store.name);
    if (superseded) return superseded;
    const writtenAt = clock.monotonic();
    const leader = current
      ? await writeLeader(store, current, {
          ...current.record,
          ...ownFacts(claimant),
          renewal: current.record.renewal + 1,
        })
      : await createLeader(store, claimant);
    if (leader !== "changed") return { kind: "held", leader, writtenAt };
  }
  throw new OperatorError(`Other nodes keep changing the record of the primary in ${store.name}.`);
}

/** Returns what this node writes into its record. */
export function ownFacts({ node, run, address }: Pick<Claimant, "node" | "run" | "address">) {
  return {
    node: node.id,
    run,
    address,
    version: VERSION,
    schema: SCHEMA_VERSION,
    released: false,
  };
}

/**
 * Writes the first record of a fleet, unless another node does. The node's term is stored before, so that a start after
 * a crash finds that the record is its own.
 */
export async function createLeader(
  store: LeaderStore,
  claimant: Claimant,
): Promise<Leader | "changed"> {
  const { directory, node, lastTerm } = claimant;
  const term = Math.max(lastTerm, node.term ?? 0) + 1;
  const prefix = await freePrefix(store, prefixOf(term, 1));
  const record = { ...ownFacts(claimant), term, prefix, previous: null, renewal: 0 };
  return writeInTerm(directory, node, term, () => writeLeader(store, undefined, record));
}

/** Stores the term of a node, and the former one again if the record was written by another node. */
export async function writeInTerm(
  directory: DataDirectory,
  node: FleetNode,
  term: number,
  write: () => Promise<Leader | "changed">,
): Promise<Leader | "changed"> {
  const former = node.term;
  const store = (value: number | undefined) => {
    node.term = value;
    writeNode(directory, node);
  };
  store(term);
  const written = await write();
  if (written === "changed") store(former);
  return written;
}

/** Returns the first prefix without files: this one, or one that follows within its term. */
export async function freePrefix(
  store: Pick<LeaderStore, "list">,
  prefix: string,
): Promise<string> {
  let free = prefix;
  while ((await store.list(`${free}/`)).length > 0) free = nextPrefix(free);
  return free;
}

/** Returns undefined for this node's own record. */
function compareTerms(
  record: LeaderRecord,
  { node }: Claimant,
  store: string,
): Extract<Claim, { kind: "superseded" }> | undefined {
  if (isRecordOf(record, node)) return undefined;
  if (node.term === undefined) throw describeOther(record, store);
  if (record.term > node.term) return { kind: "superseded", by: record, term: node.term };
  throw new OperatorError(
    `The record in ${store} is of term ${record.term} of ${nameOf(record)}, but this node has been the primary in term ${node.term}. Name the store of this node's fleet.`,
  );
}

/** Returns the error of a node that cannot be the primary, since another one is. `store` is the store's name. */
export function describeOther(record: LeaderRecord, store: string): OperatorError {
  return new OperatorError(
    `The fleet in ${store} has a primary: ${nameOf(record)}. Start this node with --replica and a data directory without a database, or name another path in the store.`,
  );
}

function nameOf({ node, address }: LeaderRecord): string {
  return address === null ? node : `${node} at ${address}`;
}

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
interface RecordOwner {
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
function isSameRun(a: LeaderRecord, b: LeaderRecord): boolean {
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
function requireSignature(
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
    isObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Time between two looks at the record. */
const LOOK_MS = 2 * SECOND_MS;
/** Time without a renewal after which the primary counts as silent: two renewals and a look. */
const SILENT_MS = 12 * SECOND_MS;

/** The leader record, as a replica sees it. */
export interface LeaderWatch {
  /** Newest record that was read; undefined before the first. */
  record(): LeaderRecord | undefined;
  /** True while the record is renewed. */
  isAlive(): boolean;
  /** Emitted with a record of another primary or log. */
  changed: Signal<LeaderRecord>;
  stop(): void;
}

/** Watches the leader record of a store. Errors of the store are logged. */
export function watchLeader(
  store: LeaderStore,
  { clock, log }: { clock: Clock; log: Log },
): LeaderWatch {
  const changed = createSignal<LeaderRecord>();
  let record: LeaderRecord | undefined;
  let etag: string | undefined;
  /** Monotonic time at which the newest tag was seen first. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;

  async function look(): Promise<void> {
    const askedAt = clock.monotonic();
    try {
      const leader = await readLeader(store);
      if (isStopped || !leader || leader.etag === etag) return;
      const before = record;
      // A record may be old when it is seen first.
      if (etag !== undefined) renewedAt = askedAt;
      etag = leader.etag;
      record = leader.record;
      if (before?.prefix !== record.prefix || before.address !== record.address) {
        changed.emit(record);
      }
    } catch (error) {
      log.warn({ err: error }, "the record of the primary cannot be read; trying again");
    } finally {
      if (!isStopped) clock.after(LOOK_MS, () => void look());
    }
  }

  void look();
  return {
    record: () => record,
    isAlive: () => clock.monotonic() - renewedAt < SILENT_MS && record?.released === false,
    changed,
    stop() {
      isStopped = true;
    },
  };
}

/** Interval of looks at the record. */
const RECORD_LOOK_MS = 1_000;
/** Time without a renewal after which the primary has stopped by itself, with some reserve. */
const RECORD_SILENT_MS = 15_000;
/** Time by which each candidate lets the better ones go first. */
const RANK_MS = 2_000;

/** The leader record as a candidate sees it. */
export interface SeenRecord {
  /** Undefined if there is no record. */
  leader: Leader | undefined;
  /** Time on the monotonic clock at which this entity tag was seen first. */
  since: number;
}

interface RecordWatch {
  /** Reads the record now. Rejects if the store does not answer. */
  look(): Promise<SeenRecord>;
  stop(): void;
}

interface WatchOptions {
  store: LeaderStore;
  clock: Clock;
  log: Log;
  /** Id of this node. */
  node: string;
  /** Number of candidates that have more of the log. */
  rank(): number;
  /** Called after each look that found the lease at its end. */
  onEnded(seen: SeenRecord): void;
}

/**
 * Watches the leader record. No clocks are compared: the lease is at its end if one entity tag was seen unchanged for
 * 15 seconds of this node's monotonic clock, or if the primary released it, and two more seconds have passed for each
 * better candidate.
 */
export function watchRecord({ store, clock, log, node, rank, onEnded }: WatchOptions): RecordWatch {
  let seen: SeenRecord | undefined;
  let timer: Timer | undefined;
  let isStopped = false;

  async function look(): Promise<SeenRecord> {
    const leader = await readLeader(store);
    if (!seen || seen.leader?.etag !== leader?.etag) {
      seen = { leader, since: clock.monotonic() };
    }
    return seen;
  }

  async function watch(): Promise<void> {
    try {
      const current = await look();
      if (!isStopped && hasLeaseEnded(current, { clock, node, rank: rank() })) onEnded(current);
    } catch (error) {
      // The primary could not renew its lease either, and does so when the store answers again.
      seen = undefined;
      log.warn({ err: error }, "the record of the primary cannot be read");
    }
    if (!isStopped) timer = clock.after(RECORD_LOOK_MS, () => void watch());
  }

  void watch();
  return {
    look,
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}

/** True if the primary cannot hold its lease any more. One that released it lets others go first. */
export function hasLeaseEnded(
  { leader, since }: SeenRecord,
  { clock, node, rank = 0 }: { clock: Pick<Clock, "monotonic">; node: string; rank?: number },
): boolean {
  if (!leader) return false;
  const { record } = leader;
  const silentMs = record.released && record.node !== node ? 0 : RECORD_SILENT_MS;
  return clock.monotonic() - since >= silentMs + RANK_MS * rank;
}
