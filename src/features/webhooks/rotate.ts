import type { Tx } from "../../db";
import { FieldErrors } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { changedRow, nameInWords, type Services } from "./changes";
import { getWebhookRecord, getWebhookRow, type WebhookRecord } from "./records";
import { secretError, newSecret, ROTATION_OVERLAP_MS } from "./secrets";
import { updateWebhookRow } from "./store";

/**
 * Gives an endpoint another secret, a new one unless it is `given`, which is in the row: show it once. The
 * one before signs, too, for 24 hours; one that was before that signs no more. Throws `not_found`, or
 * `validation_failed` for what is no secret.
 */
export function rotateSecret(
  ctx: Services,
  tx: Tx,
  id: string,
  actor: Actor,
  given?: string,
): WebhookRecord {
  const row = getWebhookRow(tx, id);
  const errors = new FieldErrors();
  const complaint = given === undefined ? undefined : secretError(given);
  if (complaint !== undefined) errors.add(["secret"], complaint);
  errors.throwIfAny();
  const now = ctx.clock.now();
  updateWebhookRow(tx, {
    ...changedRow(ctx, row),
    secret: given ?? newSecret(ctx.random),
    previousSecret: row.secret,
    previousSecretEndsAt: now + ROTATION_OVERLAP_MS,
  });
  const summary = `Gave ${nameInWords(row)} another secret`;
  audit(ctx, tx, actor, "webhook.rotate_secret", id, summary);
  return getWebhookRecord(tx, id, now);
}
