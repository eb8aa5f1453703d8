import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { maskAddress } from "../../base/mail-address";
import { cleanLine, clipTo } from "./formats/markup";
import { recipientOf } from "./recipient";
import type { WebhookRow } from "./store";

const NAME_MAX = 80;

/** Properties by which an endpoint is named. */
export type NamedWebhook = Pick<WebhookRow, "description" | "format" | "ref" | "url">;

/**
 * Returns the name of an endpoint for people who may see its address: its description, or else its address for
 * e-mail or its ref. A URL may be a secret.
 */
export function webhookName(row: NamedWebhook): string {
  return nameWith(row, recipientOf);
}

/** Returns the name for use in a sentence of the audit log, which contains no address. */
export function nameInWords(row: NamedWebhook): string {
  return `the webhook “${nameWith(row, (url) => maskAddress(recipientOf(url)))}”`;
}

function nameWith(
  { description, format, ref, url }: NamedWebhook,
  addressOf: (url: string) => string,
): string {
  const name = cleanLine(description ?? "") || (format === "email" ? addressOf(url) : ref);
  return clipTo(name, NAME_MAX);
}

/** Wakes the deliverer after the commit, since an endpoint may accept deliveries again or none. */
export function wakeDeliverer(ctx: Ctx, tx: Tx, id: string): void {
  tx.afterCommit(() => ctx.signals.deliveriesQueued.emit(id));
}
