import { CLI_ACTOR } from "../../src/base/actor";
import type { Tx } from "../../src/db/statements";
import { listStoredMonitors } from "../../src/features/monitors/declared";
import { listAllPages } from "../../src/features/pages/store";
import { listStoredWebhooks } from "../../src/features/webhooks/file";
import { updateWebhookRow } from "../../src/features/webhooks/store";
import { deleteWebhook, rotateSecret } from "../../src/features/webhooks/webhooks";
import type { CreateWebhookBody } from "../../src/features/webhooks/wire";
import type { TestApp } from "./app";
import { createWebhook, updateWebhook } from "./examined";

/** Actions on webhooks. Their objects are selected by an index modulo the number of objects. */
export const WEBHOOK_ACTS = [
  "add webhook",
  "add webhook",
  "add webhook",
  "edit webhook",
  "rotate webhook",
  "give up webhook",
  "delete webhook",
] as const;

interface WebhookAct {
  what: string;
  which: number;
  /** Index of its page; an odd number selects all pages. */
  group: number;
  word: string;
  webhookFields: Omit<CreateWebhookBody, "page">;
}

/** Performs an action. Throws a Problem if a rule forbids it. */
export function performOnWebhook({ ctx }: TestApp, tx: Tx, one: WebhookAct): void {
  const { what, which, word, group, webhookFields } = one;
  const pages = listAllPages(tx, {});
  const monitor = group % 3 === 0 ? listStoredMonitors(tx)[which]?.row.id : undefined;
  const filters = { monitors: monitor === undefined ? ["*"] : [monitor] };
  const page = group % 2 === 0 ? (pages[group % pages.length]?.slug ?? null) : null;
  if (what === "add webhook") {
    createWebhook(ctx, tx, { ...webhookFields, ...filters, page }, CLI_ACTOR);
    return;
  }
  const all = listStoredWebhooks(tx);
  const row = all[which % all.length]?.row;
  if (!row) return;
  if (what === "delete webhook") deleteWebhook(ctx, tx, row.id, CLI_ACTOR);
  if (what === "rotate webhook") rotateSecret(ctx, tx, row.id, CLI_ACTOR);
  if (what === "edit webhook") {
    const change = { ...webhookFields, ...filters, page };
    updateWebhook(ctx, tx, row.id, change, CLI_ACTOR, { ref: word });
  }
  // Like after a receiver's answer 410.
  if (what === "give up webhook") {
    updateWebhookRow(tx, { ...row, enabled: false, disabledReason: "It is gone.", disabledAt: 1 });
  }
}
