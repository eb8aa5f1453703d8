/*
 * Memory that the nodes of a fleet share in Valkey: that of a primary, that of a replica, and the changes of keys that
 * the one tells the other.
 */
import type { Clock, Timer } from "../../base/clock";
import type { Config } from "../../base/config/options";
import type { Log } from "../../base/log";
import { HOUR_MS, SECOND_MS } from "../../base/time";
import type { AttemptRecord, Ctx, NewerKeyState } from "../../context";
import { findVersion } from "../../events/changes";
import type { Alarms } from "../../features/alarms/alarms";
import { type Credential, listCredentials } from "../../features/keys/directory";
import type { LocalLimiter } from "../../features/limits/limiter";
import type { MetricFamily } from "../../features/metrics/metrics";
import type { Monitoring } from "../../features/monitors/monitoring";
import {
  ADD_CHANGES,
  applyHeartbeats,
  type Beats,
  keepHeartbeats,
  type NodeBeat,
  startBeats,
} from "./beats";
import { listenToMessages, openValkey, script, type Valkey } from "./client";
import { type SharedLimiter, shareLimits } from "./shared-buckets";

/** Channel on which the primary tells that a transaction is uploaded. */
const LOG_CHANNEL = "log";
/** Time between two uploads of what is not uploaded by then. */
const UPLOAD_MS = 500;
/** Longest upload that is waited for. */
const UPLOAD_MAX_MS = 10 * SECOND_MS;
/** Longest wait for other nodes, and pause between two looks. */
const CONFIRM_MS = 2 * SECOND_MS;
const CONFIRM_LOOK_MS = 25;
/** Name in place of those of the nodes if none could be told, and none is known. */
const ALL_OTHERS = "all replicas";
/** Time without an answer after which there is an alarm. */
const ALARM_MS = 10 * SECOND_MS;

export interface PrimaryMemory extends SharedMemory {
  keys: KeyChanges;
  attempts: AttemptRecord;
  /** Waits until all nodes have read the last change of keys, for two seconds at most. Returns those that have not. */
  findNodesBehind(): Promise<string[]>;
  /** Tells the replicas that transactions are uploaded, if they do not know. */
  hint(): void;
  /** Applies heartbeats that replicas kept while there was no primary. Called once. */
  applyHeartbeats(monitoring: Monitoring): void;
}

interface PrimaryMemoryDependencies {
  ctx: Ctx;
  node: string;
  /** Current term; undefined while this node may not be the primary. */
  term: () => number | undefined;
  /** Last transaction that is known to be uploaded. */
  txid: () => number;
  /** Uploads all that is committed. Resolves to the last transaction. */
  upload(limitMs: number): Promise<number>;
  alarms: Pick<Alarms, "raise" | "clear">;
}

/** Connects a primary to the Valkey of its fleet: it beats as such, and tells about keys and uploads. */
export async function openPrimaryMemory(deps: PrimaryMemoryDependencies): Promise<PrimaryMemory> {
  const { ctx, node, term } = deps;
  let keys: KeyChanges | undefined;
  let uploaded = 0;
  let hinted = 0;
  let isUploading = false;
  let heartbeats: { stop(): Promise<void> } | undefined;
  const txid = () => Math.max(uploaded, deps.txid());
  const memory = await openSharedMemory({
    ...ctx,
    beat: () => ({ node, term: term(), txid: txid() }),
    leastRevision: () => keys?.leastRevision() ?? Number.MAX_SAFE_INTEGER,
  });
  const { valkey, beats } = memory;
  const changes = (keys = sendKeyChanges(ctx, valkey));
  const forget = beats.read.on(({ revision }) => changes.seen(revision));

  function hint(): void {
    const current = txid();
    if (current <= hinted || term() === undefined) return;
    hinted = current;
    valkey.send("PUBLISH", [LOG_CHANNEL, String(current)]).catch(() => {});
  }

  async function findNodesBehind(): Promise<string[]> {
    const until = ctx.clock.monotonic() + CONFIRM_MS;
    const isSent = await changes.settled();
    for (;;) {
      await beats.beatNow();
      const behind = beats.behind(changes.leastRevision()).filter((other) => other !== node);
      const isOver = ctx.clock.monotonic() >= until || !valkey.isAvailable();
      if (behind.length === 0 && !isSent && !valkey.isAvailable()) return [ALL_OTHERS];
      if (behind.length === 0 || isOver) return behind;
      await new Promise<void>((resolve) => void ctx.clock.after(CONFIRM_LOOK_MS, resolve));
    }
  }

  /** Uploads what no request waits for, such as results of checks. */
  async function upload(): Promise<void> {
    if (isUploading || term() === undefined) return;
    isUploading = true;
    try {
      uploaded = await deps.upload(UPLOAD_MAX_MS);
      hint();
    } catch {
      // The replication reports failures.
    } finally {
      isUploading = false;
    }
  }

  void beats.beatNow();
  const watch = watchAnswers(ctx, memory.valkey, deps.alarms);
  const timer = ctx.clock.every(UPLOAD_MS, () => void upload());
  return {
    ...memory,
    keys: changes,
    attempts: recordAttempts(valkey, term),
    findNodesBehind,
    hint,
    applyHeartbeats(monitoring) {
      const isPrimary = () => term() !== undefined;
      heartbeats = applyHeartbeats(valkey, ctx.clock, monitoring, isPrimary);
    },
    async stop() {
      await heartbeats?.stop();
      timer.cancel();
      watch.cancel();
      forget();
      changes.stop();
      await changes.settled();
      await memory.stop();
    },
  };
}

/** Raises an alarm while Valkey has not answered for ten seconds. */
function watchAnswers(
  { clock }: Ctx,
  { name, changed, isAvailable }: Valkey,
  alarms: PrimaryMemoryDependencies["alarms"],
): Timer {
  let timer: Timer | undefined;
  function look(answers: boolean): void {
    timer?.cancel();
    if (answers) alarms.clear("valkey_unavailable");
    else timer = clock.after(ALARM_MS, () => alarms.raise("valkey_unavailable", silence));
  }
  const silence = `Valkey at ${name} has not answered for ${ALARM_MS / SECOND_MS} seconds.`;
  const forget = changed.on(look);
  look(isAvailable());
  return {
    cancel() {
      forget();
      timer?.cancel();
    },
  };
}

/**
 * Time for which a beat of the primary shows that it would send hints. Keys are known for half a second longer, in which
 * the store is listed.
 */
const BEATING_MS = 1.5 * SECOND_MS;

export interface ReplicaMemory extends SharedMemory {
  newerKeys: NewerKeys;
  /** Keeps heartbeats while there is no primary. */
  monitoring: Pick<Monitoring, "heartbeat">;
  /** True while messages arrive. */
  isListening(): boolean;
  /** True while hints of the primary of a term would arrive. */
  hasHints(term: number | undefined): boolean;
}

interface ReplicaMemoryDependencies {
  config: Config;
  clock: Clock;
  log: Log;
  node: string;
  /** Last transaction that is applied. */
  txid: () => number;
  /** Called when the primary has uploaded a transaction. */
  hint(txid: number): void;
}

/** Connects a replica to the Valkey of its fleet: it hears of changes of keys and of uploads. */
export async function openReplicaMemory(deps: ReplicaMemoryDependencies): Promise<ReplicaMemory> {
  const { clock, node } = deps;
  const newerKeys = createNewerKeys();
  const beat = () => ({ node, term: undefined, txid: deps.txid() });
  const memory = await openSharedMemory({ ...deps, beat });
  const { valkey, beats } = memory;
  const forget = beats.read.on(({ changes, txid }) => {
    newerKeys.add(changes);
    // A message may have been lost.
    deps.hint(txid);
  });
  const messages = listenToMessages(valkey, clock, {
    [KEYS_CHANNEL]: () => void beats.beatNow(),
    [LOG_CHANNEL]: (txid) => deps.hint(Number(txid)),
  });
  void beats.beatNow();
  return {
    ...memory,
    newerKeys,
    monitoring: keepHeartbeats(valkey, clock),
    isListening: messages.isListening,
    hasHints(term) {
      const at = term === undefined ? undefined : beats.knownAt(term);
      return messages.isListening() && at !== undefined && clock.monotonic() - at < BEATING_MS;
    },
    async stop() {
      messages.stop();
      forget();
      await memory.stop();
    },
  };
}

/** Time for which an attempt is remembered, in seconds: two days. */
const KEPT_S = 172_800;

/** Notes the begin of an attempt, unless it is noted already. Arguments: term, seconds. Answers what was noted. */
const BEGIN = script(`
local noted = redis.call('GET', KEYS[1])
if not noted then redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2]) end
return noted
`);

/**
 * Notes attempts as a text of the term and, once there is one, the outcome. Without Valkey nothing is noted, so that a
 * primary that takes over repeats what the database lacks.
 */
export function recordAttempts(
  valkey: Pick<Valkey, "run" | "send">,
  term: () => number | undefined,
): AttemptRecord {
  const keyOf = (id: string, attempt: number) => `send:${id}:${attempt}`;
  const termText = () => String(term() ?? 0);
  return {
    async begin(id, attempt) {
      const args = [termText(), String(KEPT_S)];
      const noted = await valkey.run(BEGIN, [keyOf(id, attempt)], args).catch(() => undefined);
      const at = typeof noted === "string" ? noted.indexOf(" ") : -1;
      return at === -1 ? undefined : (JSON.parse(String(noted).slice(at + 1)) as object);
    },
    async end(id, attempt, outcome) {
      const text = `${termText()} ${JSON.stringify(outcome)}`;
      const args = [keyOf(id, attempt), text, "EX", String(KEPT_S)];
      await valkey.send("SET", args).catch(() => {});
    },
  };
}

/** Memory that the nodes of a fleet share in Valkey. Without it, limits are each node's own. */
interface SharedMemory {
  valkey: Valkey;
  beats: Beats;
  /** Shares the limits of keys and addresses. Called once. */
  shareLimits(local: LocalLimiter): SharedLimiter;
  metrics: readonly MetricFamily[];
  stop(): Promise<void>;
}

interface SharedMemoryDependencies {
  config: Config;
  clock: Clock;
  log: Log;
  /** State of this node for the others. */
  beat: () => NodeBeat;
  /** Revision from which the changes of keys of this primary are complete. */
  leastRevision?: () => number;
}

/** Connects a node to the Valkey of its fleet. Resolves also while Valkey does not answer. */
export async function openSharedMemory({
  config,
  clock,
  log,
  beat,
  leastRevision = () => 0,
}: SharedMemoryDependencies): Promise<SharedMemory> {
  const valkey = await openValkey({ config, clock, log });
  const beats = startBeats({ valkey, clock, beat, leastRevision });
  let limiter: SharedLimiter | undefined;
  return {
    valkey,
    beats,
    shareLimits(local) {
      limiter = shareLimits(local, { config, clock, valkey, nodes: beats.nodes });
      return limiter;
    },
    metrics: [
      {
        name: "allclear_limits_local_total",
        help: "Decisions about shared rate limits that this node took alone.",
        type: "counter",
        read: () => [{ value: limiter?.localDecisions() ?? 0 }],
      },
    ],
    async stop() {
      await limiter?.stop();
      await beats.stop();
      valkey.stop();
    },
  };
}

/** Channel on which nodes hear of changes of keys. */
const KEYS_CHANNEL = "revoked";

/** Changes of keys that the primary tells the replicas before they apply the transactions. */
interface KeyChanges {
  /** Revision from which Valkey has all changes; more than it has while some are missing. */
  leastRevision(): number;
  /** Takes the revision of Valkey: what a server that was started again has lost is written again. */
  seen(revision: number): void;
  /** Resolves to true when all changes were sent, to false if they could not be. */
  settled(): Promise<boolean>;
  stop(): void;
}

interface SentChange extends KeyChange {
  /** Unix ms. */
  at: number;
}

/** Sends each revocation, end and changed limit of a key value to Valkey right after its commit. */
export function sendKeyChanges(
  { db, signals, clock }: Ctx,
  valkey: Pick<Valkey, "run" | "send">,
): KeyChanges {
  /** Changes of the last hour, by the hashes of key values. */
  const sent = new Map<string, SentChange>();
  let known = listCredentials(db);
  let revision = 0;
  /** Hashes whose changes Valkey lacks. */
  const missing = new Set<string>();
  let isDue = false;
  let isWriting = false;
  let sending: Promise<void> = Promise.resolve();

  function note(): void {
    const now = clock.now();
    const current = listCredentials(db);
    const version = findVersion(db, { scope: "keys" })?.version ?? 0;
    const changed: string[] = [];
    for (const [hash, before] of known) {
      const state = stateOf(current.get(hash), now);
      if (isEqual(stateOf(before, now), state)) continue;
      sent.set(hash, { ...state, version, at: now });
      changed.push(hash);
    }
    known = current;
    if (changed.length > 0) send(changed);
  }

  function send(hashes: Iterable<string>): void {
    for (const hash of hashes) missing.add(hash);
    isDue = true;
    sending = sending.then(write);
  }

  /** Writes what is missing. If that fails, the beats of this node do not count until it is written. */
  async function write(): Promise<void> {
    if (!isDue) return;
    const hashes = [...missing];
    missing.clear();
    isDue = false;
    isWriting = true;
    const fields = hashes.flatMap((hash) => {
      const change = sent.get(hash);
      return change ? [hash, JSON.stringify({ ...change, at: undefined })] : [];
    });
    const args = [String(KEPT_MS / SECOND_MS), String(revision), KEYS_CHANNEL, ...fields];
    try {
      revision = (await valkey.run(ADD_CHANGES, ["revoked", "rev"], args)) as number;
    } catch {
      for (const hash of hashes) missing.add(hash);
      isDue = true;
    }
    isWriting = false;
  }

  /** Forgets changes that are older than an hour, here and in Valkey. */
  function forget(): void {
    const before = clock.now() - KEPT_MS;
    const old = Array.from(sent).flatMap(([hash, { at }]) => (at < before ? hash : []));
    for (const hash of old) sent.delete(hash);
    if (old.length > 0) valkey.send("HDEL", ["revoked", ...old]).catch(() => {});
  }

  const stop = signals.keysChanged.on(note);
  return {
    leastRevision: () => (isDue || isWriting ? revision + 1 : revision),
    seen(found) {
      forget();
      if (isDue) sending = sending.then(write);
      else if (!isWriting && found < revision) send(sent.keys());
    },
    async settled() {
      await sending;
      return !isDue;
    },
    stop,
  };
}

/** Returns the state of a value. One that is gone ends at `now`. */
function stateOf(credential: Credential | undefined, now: number): Omit<KeyChange, "version"> {
  if (!credential) return { expiresAt: null, revokedAt: null, endsAt: now, rateLimit: 1 };
  const { expiresAt, revokedAt, endsAt, key } = credential;
  return { expiresAt, revokedAt, endsAt, rateLimit: key.rateLimit };
}

function isEqual(a: Omit<KeyChange, "version">, b: Omit<KeyChange, "version">): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Time for which changes of keys are kept in Valkey. */
const KEPT_MS = HOUR_MS;

/** Change of a key value, as it is stored in Valkey. */
interface KeyChange extends NewerKeyState {
  /** Version of the keys in the database from which on it has the change. */
  version: number;
}

/** Changes of keys that a replica has read in Valkey, and whose transactions it has not applied yet. */
interface NewerKeys {
  /** States by the hashes of key values, for the directory of keys. */
  states: ReadonlyMap<string, NewerKeyState>;
  /** Adds changes that were read. */
  add(changes: ReadonlyMap<string, string>): void;
  /** Forgets changes that the database has at a version of the keys. */
  applied(version: number): void;
}

function createNewerKeys(): NewerKeys {
  const states = new Map<string, KeyChange>();
  let appliedVersion = 0;

  function forget(): void {
    for (const [hash, { version }] of states) if (version <= appliedVersion) states.delete(hash);
  }

  return {
    states,
    add(changes) {
      for (const [hash, text] of changes) states.set(hash, JSON.parse(text) as KeyChange);
      forget();
    },
    applied(version) {
      appliedVersion = version;
      forget();
    },
  };
}
