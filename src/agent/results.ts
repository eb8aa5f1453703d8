import { unavailable } from "../base/errors";
import { DAY_MS } from "../base/time";
import type { Ctx } from "../context";
import { presentSteps, type StepRecorder, STEPS_MAX } from "../egress/steps";
import {
  type AgentResult,
  MESSAGE_MAX,
  RESULT_AGE_MAX_MS,
  RESULTS_MAX,
  RESULTS_MAX_BYTES,
} from "../features/locations/agent-wire";
import type { Entry } from "../features/monitors/engine/entry";
import { RejectedRequest, type Server } from "./server";

/** A check that a user has asked for. */
interface RequestedCheck {
  requestId: string;
  monitorId: string;
  steps: StepRecorder | undefined;
}

/** Maximum size of the results of a batch: the limit of its body without the fields around them. */
const BATCH_MAX_BYTES = RESULTS_MAX_BYTES - 1_024;

/** Statuses of a batch that the server cannot read, however often it is sent. */
const UNREADABLE: ReadonlySet<number> = new Set([400, 413, 422]);

const NO_CONTACT = "The location had no contact with the server.";

/**
 * Sends the entries of the engine to the server. Each keeps its number when it is sent again. Results that have waited
 * for ten minutes are dropped; the first of each monitor then says that the time since is without data.
 */
export class Results {
  readonly #ctx: Ctx;
  readonly #server: Server;
  readonly #process: string;
  readonly #numbers = new WeakMap<Entry, number>();
  readonly #asked = new WeakMap<Entry, readonly RequestedCheck[]>();
  /** Checks that users have asked for and that have no result yet. */
  readonly #waiting = new Set<RequestedCheck>();
  /** Numbers of monitors whose results are being dropped. */
  readonly #dropping = new Set<number>();
  #last = 0;

  constructor(ctx: Ctx, server: Server) {
    this.#ctx = ctx;
    this.#server = server;
    this.#process = Buffer.from(ctx.random(12)).toString("hex");
  }

  /** Sends entries. Rejects with `unavailable` to have all of them sent again. */
  readonly store = async (entries: readonly Entry[]): Promise<void> => {
    for (const entry of entries) this.#prepare(entry);
    const sent = entries
      .filter((entry) => this.#isKept(entry))
      .map((entry) => this.#present(entry));
    try {
      for (const results of batchesOf(sent)) {
        // oxlint-disable-next-line no-await-in-loop
        const { invalid } = await this.#server.send({ process: this.#process, results });
        if (invalid > 0) this.#ctx.log.warn({ invalid }, "the server found results invalid");
      }
    } catch (error) {
      // Others wait until the token, the program or a proxy was changed.
      const isUnreadable = error instanceof RejectedRequest && UNREADABLE.has(error.status);
      throw error instanceof RejectedRequest && !isUnreadable
        ? unavailable(error.message, 1)
        : error;
    }
  };

  /** Notes that a user waits for a check, whose next result answers. */
  expect(requested: RequestedCheck): void {
    this.#waiting.add(requested);
  }

  /** Answers a user whose check has no result, unless it has one that waits to be sent. */
  async fail(requested: RequestedCheck, detail: string): Promise<void> {
    if (!this.#waiting.delete(requested)) return;
    const failed = { request_id: requested.requestId, detail: detail.slice(0, MESSAGE_MAX) };
    const batch = { process: this.#process, results: [], failed_requests: [failed] };
    // The user is answered by the server's own limit of the wait otherwise.
    await this.#server.send(batch).catch(() => {});
  }

  /** Numbers an entry, and finds who has asked for it. */
  #prepare(entry: Entry): void {
    if (this.#numbers.has(entry)) return;
    this.#numbers.set(entry, ++this.#last);
    if (!entry.waiters?.length) return;
    const asked = [...this.#waiting].filter(({ monitorId }) => monitorId === entry.scheduled.id);
    for (const each of asked) this.#waiting.delete(each);
    this.#asked.set(entry, asked);
  }

  /** Returns false for an entry to drop. */
  #isKept(entry: Entry): boolean {
    const { num } = entry.scheduled;
    const isOld = this.#ctx.clock.now() - entry.at > RESULT_AGE_MAX_MS;
    if (!isOld) {
      this.#dropping.delete(num);
      return true;
    }
    if (entry.kind === "away") return true;
    if (this.#dropping.has(num)) return false;
    this.#dropping.add(num);
    entry.kind = "away";
    entry.outcome = "unknown";
    entry.message = NO_CONTACT;
    entry.latencyMs = null;
    return true;
  }

  #present(entry: Entry): AgentResult {
    const { outcome, isHeld, isDegraded, since, elapsedMs, latencyMs, message } = entry;
    const { publicMessage, certificate, via } = entry;
    const ageOf = (at: number) => Math.max(0, this.#ctx.clock.now() - at);
    const asked = this.#asked.get(entry) ?? [];
    const steps = asked.flatMap(({ steps: recorder }) => recorder?.steps ?? []);
    return {
      number: this.#numbers.get(entry) ?? 0,
      monitor_id: entry.scheduled.id,
      version: entry.version ?? entry.scheduled.version,
      kind: kindOf(entry),
      age_ms: within(ageOf(entry.at)),
      outcome,
      latency_ms: latencyMs === null ? null : within(latencyMs),
      message: message === null ? null : cut(message),
      ...(isHeld && { is_held: true }),
      ...(entry.at < this.#server.cutOffUntil && outcome === "failed" && { is_cut_off: true }),
      ...(isDegraded && { is_degraded: true }),
      ...(since !== undefined && { since_age_ms: ageOf(since) }),
      ...(elapsedMs !== undefined && { elapsed_ms: within(elapsedMs) }),
      ...(publicMessage !== undefined && { public_message: cut(publicMessage) }),
      ...(certificate && {
        certificate: {
          host: certificate.host,
          fingerprint: certificate.fingerprint,
          expires_at: certificate.expiresAt,
          intermediate: certificate.intermediate ?? null,
        },
      }),
      ...(via && { via: [...via] }),
      ...(asked.length > 0 && {
        request_ids: asked.map(({ requestId }) => requestId),
        steps: presentSteps(steps.slice(0, STEPS_MAX)),
      }),
    };
  }
}

function kindOf({ kind }: Entry): AgentResult["kind"] {
  if (kind === "check" || kind === "held" || kind === "away") return kind;
  throw new Error(`an agent has no entry of the kind ${kind}`);
}

/** Returns a time of a result within its limits, in whole ms. */
function within(ms: number): number {
  return Math.round(Math.min(Math.max(ms, 0), DAY_MS));
}

function cut(message: string): string {
  return [...message.toWellFormed().replaceAll("\0", "")].slice(0, MESSAGE_MAX).join("");
}

/** Divides results into batches within the limits of the server. */
function* batchesOf(results: readonly AgentResult[]): Generator<AgentResult[]> {
  let batch: AgentResult[] = [];
  let bytes = 0;
  for (const result of results) {
    const size = Buffer.byteLength(JSON.stringify(result)) + 1;
    if (batch.length === RESULTS_MAX || (batch.length > 0 && bytes + size > BATCH_MAX_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(result);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
