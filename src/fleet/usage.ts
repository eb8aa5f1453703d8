import type { Ctx } from "../context";
import type { HourCounts, KeyUse } from "../features/keys/usage";

/** Rows that are kept while no primary takes them: one for each hour of a key's value. */
export const ROWS_MAX = 100_000;
/** Rows of one batch. */
export const BATCH_MAX = 2_000;

/** Uses of a key's value in one hour. */
export interface UsageRow extends HourCounts {
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
