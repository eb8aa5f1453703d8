import type { AppContext } from "../../../context";
import type { Tx } from "../../../db";
import { audit } from "../../../events";
import { SYSTEM_ACTOR } from "../../../domain/actor";
import { HOUR_MS } from "../../../kernel/time";
import { nameInWords, wakeDeliverer } from "../changes";
import {
  addToWebhookHour,
  findDeliveryProgress,
  insertTry,
  setDeliveryProgress,
} from "../delivery-store";
import { isSuccess, classifyAttempt } from "../rules";
import { findWebhook, setFailingSince, updateWebhookRow } from "../store";
import type { TryResult } from "./attempt";

const CHANCE_BYTES = 4;

/**
 * Writes down how a try went and all that follows from it: the next one, the end of the delivery, the
 * endpoint's standing. `steadyNow` is the moment that waits are counted from. Answers when the next try
 * is due, in the same time, if there is one.
 */
export function recordTry(
  ctx: Pick<AppContext, "clock" | "random" | "signals">,
  tx: Tx,
  deliveryId: string,
  result: TryResult,
  steadyNow: number,
): number | undefined {
  const progress = findDeliveryProgress(tx, { id: deliveryId });
  // Deleted with its event or its page meanwhile.
  if (!progress) return undefined;
  const { webhookId, tries, triesBefore, eventType, failingSince } = progress;
  const { retryAfter, ...told } = result;
  const endedAt = result.at + result.latencyMs;
  const verdict = classifyAttempt({
    statusCode: result.statusCode,
    retryAfter,
    endedAt,
    failuresBefore: tries - triesBefore,
    mayRetry: eventType !== "webhook.test",
    failingSince,
    chance: Buffer.from(ctx.random(CHANCE_BYTES)).readUInt32BE() / 2 ** 32,
  });
  insertTry(tx, { deliveryId, number: tries + 1, ...told });
  // What was cancelled during the try stays so, unless it has arrived after all.
  const isCalledOff = progress.status === "cancelled" && verdict.status !== "delivered";
  const status = isCalledOff ? "cancelled" : verdict.status;
  const nextTryAt =
    status === "pending" && verdict.waitMs !== undefined ? steadyNow + verdict.waitMs : null;
  setDeliveryProgress(tx, {
    id: deliveryId,
    status,
    tries: tries + 1,
    nextTryAt,
    finishedAt: nextTryAt === null ? endedAt : null,
  });
  const hasSucceeded = isSuccess(result.statusCode);
  addToWebhookHour(tx, {
    webhookId,
    hour: endedAt - (endedAt % HOUR_MS),
    succeeded: hasSucceeded ? 1 : 0,
    failed: hasSucceeded ? 0 : 1,
  });
  if (verdict.failingSince !== failingSince) {
    setFailingSince(tx, { id: webhookId, failingSince: verdict.failingSince });
  }
  if (verdict.disable !== undefined) disable(ctx, tx, webhookId, verdict.disable);
  return nextTryAt ?? undefined;
}

/**
 * Disables an endpoint. The deliverer cancels its waiting deliveries in small steps, since there
 * can be many.
 */
function disable(
  ctx: Pick<AppContext, "clock" | "signals">,
  tx: Tx,
  id: string,
  reason: string,
): void {
  const row = findWebhook(tx, { id });
  if (!row?.enabled) return;
  const now = ctx.clock.now();
  updateWebhookRow(tx, {
    ...row,
    enabled: false,
    disabledReason: reason,
    disabledAt: now,
    version: row.version + 1,
    updatedAt: now,
  });
  audit(ctx, tx, SYSTEM_ACTOR, "webhook.disable", id, `Disabled ${nameInWords(row)}: ${reason}`);
  wakeDeliverer(ctx, tx, id);
}
