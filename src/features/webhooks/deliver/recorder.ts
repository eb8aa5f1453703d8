import { SYSTEM_ACTOR } from "../../../base/actor";
import { HOUR_MS } from "../../../base/time";
import type { DeliveryStatus } from "../../../base/webhook";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { audit } from "../../../events/audit";
import { drawChance, ResultRecorder } from "../../sending/results";
import {
  addToWebhookHour,
  findDeliveryProgress,
  insertTry,
  setDeliveryProgress,
  type TryRow,
} from "../delivery-store";
import { clipTo } from "../formats/markup";
import { nameInWords, wakeDeliverer } from "../records";
import { canRetry, classifyAttempt, classifyRefusal, isSuccess } from "../rules";
import { findWebhook, setFailingSince, setPause, updateWebhookRow } from "../store";
import { isPutOff, type TryResult } from "./message";

/** An ended attempt of a delivery. */
interface EndedAttempt {
  /** The oldest one of a group. */
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
  /** As `Destination` counts it. */
  refusingMs: number;
}

/** Writes results of attempts; `add` resolves with the time of the next one, if there is one. */
export type Recorder = ResultRecorder<EndedAttempt, number | undefined>;

export function createRecorder(ctx: Ctx, steadyNow: () => number): Recorder {
  return new ResultRecorder(ctx, {
    write(tx, { deliveryId, result, pause }) {
      if (pause) setPause(tx, pause);
      if (!isPutOff(result)) return recordTry(ctx, tx, deliveryId, result, steadyNow());
      recordRefusal(ctx, tx, deliveryId, result, pause?.refusingMs ?? 0);
      return undefined;
    },
    describe: ({ deliveryId }) => ({ delivery: deliveryId }),
    waiting: "deliveries wait until their results can be recorded",
    lost: "a delivery's result cannot be recorded",
  });
}

/** Length of the response that is kept with each delivery of a group but the oldest, which has all of it. */
const SHORT_ANSWER = 1_000;

/**
 * Writes the result of an attempt with its consequences for delivery and endpoint. `steadyNow` is
 * the start of delays, from `monotonicWallClock`. Returns the time of the next attempt by that
 * clock, if there is one.
 */
export function recordTry(
  ctx: Ctx,
  tx: Tx,
  deliveryId: string,
  result: TryResult,
  steadyNow: number,
): number | undefined {
  const { permanent, refused: _, members = [deliveryId], ...stored } = result;
  const progress = members
    .values()
    .map((id) => findDeliveryProgress(tx, { id }))
    .find((found) => found !== undefined);
  // All were deleted meanwhile with their events or pages.
  if (!progress) return undefined;
  const { webhookId, tries, triesBefore, eventType, failingSince } = progress;
  const endedAt = result.at + result.latencyMs;
  const outcome = classifyAttempt({
    statusCode: result.statusCode,
    permanent,
    endedAt,
    failuresBefore: tries - triesBefore,
    canRetry: canRetry(eventType),
    failingSince,
    chance: drawChance(ctx),
  });
  const nextTryAt =
    outcome.status === "pending" && outcome.waitMs !== undefined
      ? steadyNow + outcome.waitMs
      : null;
  for (const [index, id] of members.entries()) {
    const answer = index === 0 ? stored.answer : shortened(stored.answer);
    recordFor(ctx, tx, id, { ...stored, answer }, { ...outcome, nextTryAt, endedAt });
  }
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

/** Writes the result of an attempt for one of the deliveries that were sent together. */
function recordFor(
  ctx: Ctx,
  tx: Tx,
  deliveryId: string,
  stored: Omit<TryRow, "deliveryId" | "number">,
  outcome: { status: DeliveryStatus; nextTryAt: number | null; endedAt: number },
): void {
  const progress = findDeliveryProgress(tx, { id: deliveryId });
  // It was deleted meanwhile.
  if (!progress) return;
  const tries = progress.tries + 1;
  insertTry(tx, { deliveryId, number: tries, ...stored });
  tx.afterCommit(() => ctx.signals.deliveryTried.emit(deliveryId));
  // A delivery that was cancelled meanwhile stays cancelled, unless it succeeded.
  const isCalledOff = progress.status === "cancelled" && outcome.status !== "delivered";
  const nextTryAt = isCalledOff ? null : outcome.nextTryAt;
  setDeliveryProgress(tx, {
    id: deliveryId,
    status: isCalledOff ? "cancelled" : outcome.status,
    tries,
    nextTryAt,
    finishedAt: nextTryAt === null ? outcome.endedAt : null,
  });
}

function shortened(answer: string | null): string | null {
  return answer === null ? null : clipTo(answer, SHORT_ANSWER);
}

/** Writes a refusal with its consequence for the endpoint. The delivery stays due, and the refusal is no attempt of it. */
function recordRefusal(
  ctx: Ctx,
  tx: Tx,
  deliveryId: string,
  { at, latencyMs }: TryResult,
  refusingMs: number,
): void {
  const progress = findDeliveryProgress(tx, { id: deliveryId });
  if (!progress) return;
  const { webhookId, failingSince } = progress;
  const outcome = classifyRefusal({ endedAt: at + latencyMs, refusingMs, failingSince });
  if (outcome.failingSince !== failingSince) {
    setFailingSince(tx, { id: webhookId, failingSince: outcome.failingSince });
  }
  if (outcome.disable !== undefined) disable(ctx, tx, webhookId, outcome.disable);
}

/**
 * Disables an endpoint. The deliverer cancels its waiting deliveries in small steps, since there
 * can be many.
 */
function disable(ctx: Ctx, tx: Tx, id: string, reason: string): void {
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
