import type { Tx } from "../../db";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { changedRow, nameInWords, type Services, wakeDeliverer } from "./changes";
import { shownUrl } from "./formats";
import { getWebhookRow } from "./records";
import { updateWebhookRow } from "./store";

/**
 * Deletes an endpoint: 404 from now on, nothing more is sent to it, and its secrets are gone. Throws
 * `not_found`.
 */
export function deleteWebhook(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const row = getWebhookRow(tx, id);
  updateWebhookRow(tx, {
    ...changedRow(ctx, row),
    // They serve nobody any more.
    url: shownUrl(row.format, row.url),
    settings: {},
    secret: "",
    previousSecret: null,
    previousSecretEndsAt: null,
    deletedAt: ctx.clock.now(),
  });
  audit(ctx, tx, actor, "webhook.delete", id, `Deleted ${nameInWords(row)}`);
  wakeDeliverer(ctx, tx, id);
}
