import type { AppContext } from "../../../context";
import type { Tx } from "../../../db";
import { audit } from "../../../events";
import { SYSTEM_ACTOR } from "../../../domain/actor";
import { HOUR_MS } from "../../../kernel/time";
import { ResultRecorder } from "../../outgoing";
import { nameInWords, wakeDeliverer } from "../changes";
import {
  addToWebhookHour,
  findDeliveryProgress,
  insertTry,
  setDeliveryProgress,
} from "../delivery-store";
import { canRetry, classifyAttempt, classifyRefusal, isSuccess } from "../rules";
import { findWebhook, setFailingSince, setPause, updateWebhookRow } from "../store";
import { isPutOff, type TryResult } from "./try-result";

/** An ended attempt of a delivery. */
interface EndedAttempt {
  deliveryId: string;
  result: TryResult;
  /** Pause that it begins at its destination. */
  pause?: Pause | undefined;
}

/** Pause of a destination. */
export interface Pause {
  /** Digest of the destination. */
  destination: string;
  /** End in unix ms. */
  until: number;
}

/** Writes results of attempts; `add` resolves with the time of the next one, if there is one. */
export type Recorder = ResultRecorder<EndedAttempt, number | undefined>;

export function createRecorder(
  ctx: Pick<AppContext, "clock" | "db" | "log" | "random" | "signals">,
  steadyNow: () => number,
): Recorder {
  return new ResultRecorder(ctx, {
    write(tx, { deliveryId, result, pause }) {
      if (pause) setPause(tx, pause);
      if (!isPutOff(result)) return recordTry(ctx, tx, deliveryId, result, steadyNow());
      recordRefusal(ctx, tx, deliveryId, result);
      return undefined;
    },
    describe: ({ deliveryId }) => ({ delivery: deliveryId }),
    waiting: "deliveries wait until their results can be recorded",
    lost: "a delivery's result cannot be recorded",
  });
}

const CHANCE_BYTES = 4;

/**
 * Writes the result of an attempt with its consequences for delivery and endpoint. `steadyNow` is
 * the start of delays, from `monotonicWallClock`. Returns the time of the next attempt by that
 * clock, if there is one.
 */
export function recordTry(
  ctx: Pick<AppContext, "clock" | "random" | "signals">,
  tx: Tx,
  deliveryId: string,
  result: TryResult,
  steadyNow: number,
): number | undefined {
  const progress = findDeliveryProgress(tx, { id: deliveryId });
  // It was deleted meanwhile with its event or page.
  if (!progress) return undefined;
  const { webhookId, tries, triesBefore, eventType, failingSince } = progress;
  const { permanent, refused: _, ...stored } = result;
  const endedAt = result.at + result.latencyMs;
  const outcome = classifyAttempt({
    statusCode: result.statusCode,
    permanent,
    endedAt,
    failuresBefore: tries - triesBefore,
    canRetry: canRetry(eventType),
    failingSince,
    chance: Buffer.from(ctx.random(CHANCE_BYTES)).readUInt32BE() / 2 ** 32,
  });
  insertTry(tx, { deliveryId, number: tries + 1, ...stored });
  tx.afterCommit(() => ctx.signals.deliveryTried.emit(deliveryId));
  // A delivery that was cancelled meanwhile stays cancelled, unless it succeeded.
  const isCalledOff = progress.status === "cancelled" && outcome.status !== "delivered";
  const status = isCalledOff ? "cancelled" : outcome.status;
  const nextTryAt =
    status === "pending" && outcome.waitMs !== undefined ? steadyNow + outcome.waitMs : null;
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
  if (outcome.failingSince !== failingSince) {
    setFailingSince(tx, { id: webhookId, failingSince: outcome.failingSince });
  }
  if (outcome.disable !== undefined) disable(ctx, tx, webhookId, outcome.disable);
  return nextTryAt ?? undefined;
}

/** Writes a refusal with its consequence for the endpoint. The delivery stays due, and the refusal is no attempt of it. */
function recordRefusal(
  ctx: Pick<AppContext, "clock" | "signals">,
  tx: Tx,
  deliveryId: string,
  { at, latencyMs }: TryResult,
): void {
  const progress = findDeliveryProgress(tx, { id: deliveryId });
  if (!progress) return;
  const { webhookId, failingSince, nextTryAt } = progress;
  const endedAt = at + latencyMs;
  const outcome = classifyRefusal({ endedAt, dueAt: nextTryAt ?? endedAt, failingSince });
  if (outcome.failingSince !== failingSince) {
    setFailingSince(tx, { id: webhookId, failingSince: outcome.failingSince });
  }
  if (outcome.disable !== undefined) disable(ctx, tx, webhookId, outcome.disable);
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
