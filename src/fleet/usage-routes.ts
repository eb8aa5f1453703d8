import { Type } from "@sinclair/typebox";
import type { Ctx } from "../context";
import { schemaErrors } from "../base/validation";
import { type KeyUse, storeKeyUses } from "../features/keys/usage";
import { findSetting, putSetting } from "../features/settings/store";
import { DAY_MS } from "../base/time";
import { BATCH_MAX, type UsageBatch, type UsageRow } from "./usage";

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
