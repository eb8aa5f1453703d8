import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { cleanLine, clipTo } from "./formats/clean";
import type { WebhookRow } from "./store";

export type Services = Pick<
  AppContext,
  | "allowedNetworks"
  | "baseUrl"
  | "config"
  | "db"
  | "clock"
  | "newId"
  | "outbox"
  | "random"
  | "signals"
>;

const NAME_MAX = 80;

/** Returns the name of an endpoint: its description, or its ref. Its URL may be a secret. */
export function webhookName({ description, ref }: Pick<WebhookRow, "description" | "ref">): string {
  return clipTo(cleanLine(description ?? ""), NAME_MAX) || ref;
}

/** Returns the name for use in a sentence. */
export function nameInWords(row: Pick<WebhookRow, "description" | "ref">): string {
  return `the webhook “${webhookName(row)}”`;
}

/** Wakes the deliverer after the commit, since an endpoint may accept deliveries again or none. */
export function wakeDeliverer(ctx: Pick<AppContext, "signals">, tx: Tx, id: string): void {
  tx.afterCommit(() => ctx.signals.deliveriesQueued.emit(id));
}
