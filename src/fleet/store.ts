import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../base/clock";
import type { Config } from "../base/config/options";
import { type RandomBytes, sha256 } from "../base/hash";
import type { Log } from "../base/log";
import { OperatorError } from "../db/errors";
import type { ObjectStore } from "../object-store/object-store";
import { openObjectStore } from "../object-store/open";
import { LEADER_KEY, type LeaderStore, signRecords } from "./leader";
import type { LitestreamSetup } from "./log/replication";

/** Limit of a request for the leader record, in ms: shorter than a lease, so that a renewal is tried again. */
const LEADER_DEADLINE_MS = 2_000;

/** Differences of the clocks of node and store in ms: that causes a warning, and that with which no node starts. */
const SKEW_WARN_MS = 2_000;
const SKEW_MAX_MS = 60_000;

/** The store of a fleet, and the program that writes the log into it. */
export interface FleetStore {
  /** Requests with a short deadline. */
  leader: LeaderStore;
  /** Requests with the usual deadline, for files of the log. */
  files: ObjectStore;
  litestream: LitestreamSetup;
}

/** Opens the store of `--fleet-store`, without a request. */
export function openFleetStore(config: Config, clock: Clock): FleetStore {
  const { fleetStore: store, fleetStoreKeyId: keyId, fleetStoreSecret: secret } = config;
  if (!store) throw new OperatorError("--fleet-store is missing.");
  const { fleetSecret } = config;
  if (fleetSecret === undefined) throw new OperatorError("ALLCLEAR_FLEET_SECRET is missing.");
  const credentials = keyId !== undefined && secret !== undefined ? { keyId, secret } : undefined;
  const deps = { clock, ca: config.caFile?.pem };
  return {
    leader: signRecords(
      openObjectStore(store, credentials, { ...deps, deadlineMs: LEADER_DEADLINE_MS }),
      fleetSecret,
    ),
    files: openObjectStore(store, credentials, deps),
    litestream: { program: config.litestream, store, credentials, caFile: config.caFile?.path },
  };
}

/**
 * Tests the store with two writes, of which the second must be refused, and its clock. Throws an OperatorError for
 * automatic failover in a store without conditional writes, and for a clock that is a minute off.
 */
export async function probeStore(
  { leader: store }: FleetStore,
  { random, log, isAutomatic }: { random: RandomBytes; log: Log; isAutomatic: boolean },
): Promise<void> {
  const key = `probe-${Buffer.from(random(8)).toString("hex")}`;
  const bytes = new TextEncoder().encode("probe");
  try {
    await store.put(key, bytes, { ifNoneMatch: true });
    const second = await store.put(key, bytes, { ifNoneMatch: true });
    if (second !== "changed") {
      const reason = `The store ${store.name} ignores the condition of a conditional write (If-None-Match)`;
      if (isAutomatic) {
        throw new OperatorError(`${reason}, so --failover automatic cannot be used with it.`);
      }
      log.warn(`${reason}; stop the primary before you promote a replica`);
    }
  } finally {
    await store.remove([key]).catch(() => {});
    // A store refuses the requests of a clock that is far off, and says its own time.
    requireClock(store, log);
  }
}

/**
 * Compares the clocks of a node that only reads: it judges the expiry of keys. Throws an OperatorError for a clock that
 * is a minute off. A store that does not answer says nothing.
 */
export async function checkClock({ leader: store }: FleetStore, log: Log): Promise<void> {
  await store.get(LEADER_KEY).catch(() => undefined);
  requireClock(store, log);
}

/** Throws an OperatorError for a clock that is a minute off, and warns about two seconds. */
function requireClock(store: ObjectStore, log: Log): void {
  const wrong = findWrongClock(store);
  if (wrong) throw wrong;
  const skewMs = Math.abs(store.clockSkewMs() ?? 0);
  if (skewMs <= SKEW_WARN_MS) return;
  const seconds = Math.round(skewMs / 1_000);
  log.warn({ seconds }, "the clocks of this machine and the store differ");
}

/** Returns the error of a clock that is a minute off, as the last answer of the store showed; undefined otherwise. */
export function findWrongClock(store: ObjectStore): OperatorError | undefined {
  const skewMs = Math.abs(store.clockSkewMs() ?? 0);
  if (skewMs < SKEW_MAX_MS) return undefined;
  const seconds = Math.round(skewMs / 1_000);
  return new OperatorError(
    `The clock of this machine and that of the store ${store.name} differ by ${seconds} s. Correct the clock of this machine.`,
  );
}

/** Paths of the private listener. */
export const FORWARD_PATH = "/fleet/v1/forward";
export const USAGE_PATH = "/fleet/v1/usage";
/** Replicas report to it, and it answers with the state of all nodes. */
export const NODES_PATH = "/fleet/v1/nodes";
export const STATUS_PATH = "/fleet/v1/status";

/** Headers between nodes. They mean nothing on the public listener. */
export const TOKEN_HEADER = "allclear-fleet-token";
/** Origin of the request's URL as the client sent it, such as `https://status.example.com`. */
export const ORIGIN_HEADER = "allclear-forwarded-origin";
/** Client address that the replica found. */
export const CLIENT_HEADER = "allclear-forwarded-for";
/** Set if the replica is certain that this is the client, and not a proxy in front of it. */
export const CERTAIN_HEADER = "allclear-forwarded-certain";
/** Set on answers of the application, so that no other program's answer passes for one. */
export const FORWARDED_HEADER = "allclear-forwarded";

/** Returns the text by which nodes recognise each other: a hash, since a secret may have any characters. */
export function fleetToken(secret: string): string {
  return new Bun.CryptoHasher("sha256", secret).update("allclear fleet v1").digest("hex");
}

/** Returns true if a header has the token. Takes the same time for each wrong one. */
export function isFleetToken(given: string | null, token: string): boolean {
  return given !== null && timingSafeEqual(sha256(given), sha256(token));
}

/** Headers that concern one connection (RFC 9110) and are not sent on, in lower case. */
const OF_CONNECTION = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Returns a copy without the headers of the connection and those in `more`. */
export function withoutConnection(headers: Headers, more: readonly string[] = []): Headers {
  const copy = new Headers(headers);
  const named = (headers.get("connection") ?? "").split(",").map((name) => name.trim());
  for (const name of [...OF_CONNECTION, ...more, ...named.filter(isToken)]) copy.delete(name);
  return copy;
}

function isToken(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name);
}
