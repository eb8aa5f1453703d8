import { Type } from "@sinclair/typebox";
import { DAY_MS } from "../base/time";
import { schemaErrors } from "../base/validation";
import type { Ctx } from "../context";
import { type HourCounts, type KeyUse, storeKeyUses } from "../features/keys/usage";
import { findSetting, putSetting } from "../features/settings/store";

/** Rows that are kept while no primary takes them: one for each hour of a key's value. */
const ROWS_MAX = 100_000;
/** Rows of one batch. */
const BATCH_MAX = 2_000;

/** Uses of a key's value in one hour. */
interface UsageRow extends HourCounts {
  hash: string;
  keyId: string;
  /** Last use, in unix ms. */
  at: number;
  ip: string;
}

/** Uses that a node sends to the primary. It is sent again, unchanged, until it was stored. */
export interface UsageBatch {
  /** Name of the node's process. */
  node: string;
  /** Number of the batch, from 1. */
  sequence: number;
  rows: readonly UsageRow[];
}

/** Keeps what a replica counts until the primary has stored it. */
export interface UsageSender {
  /** Takes uses, and sends them. Never rejects. */
  send(uses: readonly KeyUse[]): Promise<void>;
  /** Number of rows that wait. */
  waiting(): number;
  /** Sends nothing from here on, since this node becomes the primary. */
  hold(): void;
  /** Takes what waits. The primary may have stored the first batch already. */
  takeRest(): UsageBatch[];
}

/** `post` sends a batch to the primary. It rejects if the batch may not have been stored. */
export function createUsageSender(
  { log }: Ctx,
  node: string,
  post: (batch: UsageBatch) => Promise<void>,
): UsageSender {
  const rows = new Map<string, UsageRow>();
  let sequence = 0;
  /** Batch whose outcome is not known. */
  let pending: UsageBatch | undefined;
  let isSending = false;
  let isHeld = false;
  let dropped = 0;

  function add(use: KeyUse): void {
    for (const counts of use.hours) {
      const id = `${use.hash} ${counts.hour}`;
      const row = rows.get(id);
      if (row) merge(row, use, counts);
      else if (rows.size + (pending?.rows.length ?? 0) < ROWS_MAX) {
        const { hash, keyId, lastUse } = use;
        rows.set(id, { hash, keyId, ...lastUse, ...counts });
      } else dropped += 1;
    }
  }

  function nextBatch(): UsageBatch | undefined {
    if (rows.size === 0) return undefined;
    const taken = [...rows].slice(0, BATCH_MAX);
    for (const [id] of taken) rows.delete(id);
    sequence += 1;
    return { node, sequence, rows: taken.map(([, row]) => row) };
  }

  return {
    async send(uses) {
      uses.forEach(add);
      if (isSending || isHeld) return;
      isSending = true;
      try {
        pending ??= nextBatch();
        while (pending) {
          await post(pending);
          pending = isHeld ? undefined : nextBatch();
        }
        if (dropped > 0) log.warn({ dropped }, "counts of key usage were lost: no room was left");
        dropped = 0;
      } catch (error) {
        log.debug({ err: error }, "the use of keys was not sent; it is kept for the next time");
      } finally {
        isSending = false;
      }
    },
    waiting: () => rows.size + (pending?.rows.length ?? 0),
    hold: () => void (isHeld = true),
    takeRest() {
      const rest: UsageBatch[] = [];
      for (let batch = pending ?? nextBatch(); batch; batch = nextBatch()) rest.push(batch);
      pending = undefined;
      return rest;
    },
  };
}

function merge(row: UsageRow, { lastUse }: KeyUse, counts: HourCounts): void {
  if (lastUse.at >= row.at) Object.assign(row, lastUse);
  row.ok += counts.ok;
  row.clientError += counts.clientError;
  row.limited += counts.limited;
}

const COUNT = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Batch = Type.Object({
  node: Type.String({ minLength: 1, maxLength: 100 }),
  sequence: Type.Integer({ minimum: 1 }),
  rows: Type.Array(
    Type.Object({
      hash: Type.String({ pattern: "^[0-9a-f]{64}$" }),
      keyId: Type.String({ maxLength: 40 }),
      at: COUNT,
      ip: Type.String({ maxLength: 45 }),
      hour: COUNT,
      ok: COUNT,
      clientError: COUNT,
      limited: COUNT,
    }),
    { maxItems: BATCH_MAX },
  ),
});

const SEQUENCES = "fleet_usage_sequences";
/** Time after which a process that sent nothing is forgotten. */
const FORGET_MS = 7 * DAY_MS;

/** Last batch of each process by its name. */
type Sequences = Record<string, { sequence: number; at: number }>;

/** Handles `POST /fleet/v1/usage`. */
export function createUsageHandler(ctx: Ctx): (request: Request) => Promise<Response> {
  return async (request) => {
    const batch = (await request.json().catch(() => undefined)) as UsageBatch;
    if (schemaErrors(Batch, batch).length > 0) {
      return Response.json({ detail: "The batch is not valid." }, { status: 422 });
    }
    await storeUsageBatch(ctx, batch);
    return Response.json({ sequence: batch.sequence });
  };
}

/** Stores a batch and its number in one transaction, so that a repeated batch counts once. */
export function storeUsageBatch(
  { clock, db }: Ctx,
  { node, sequence, rows }: UsageBatch,
): Promise<void> {
  return db.write((tx) => {
    const now = clock.now();
    const known = (findSetting(tx, { name: SEQUENCES })?.value ?? {}) as Sequences;
    if ((known[node]?.sequence ?? 0) >= sequence) return;
    storeKeyUses(tx, rows.map(toKeyUse));
    const recent = Object.entries(known).filter(([, { at }]) => at > now - FORGET_MS);
    const value = { ...Object.fromEntries(recent), [node]: { sequence, at: now } };
    putSetting(tx, { name: SEQUENCES, value, now });
  });
}

function toKeyUse({ hash, keyId, at, ip, ...counts }: UsageRow): KeyUse {
  return { hash, keyId, lastUse: { at, ip }, hours: [counts] };
}
