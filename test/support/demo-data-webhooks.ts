import { asc } from "drizzle-orm";
import { selectMany } from "../../src/db/statements";
import { deliveries, webhooks } from "../../src/db/tables/webhooks";
import type { CreateWebhookBody } from "../../src/features/webhooks/wire";
import { getWebhookRecord } from "../../src/features/webhooks/records";
import type { TryResult } from "../../src/features/webhooks/deliver/message";
import { recordTry } from "../../src/features/webhooks/deliver/deliverer";
import { deleteUntried } from "../../src/features/webhooks/delivery-store";
import type { DemoPage, Entry } from "../../src/demo/year";
import type { Actor } from "../../src/base/actor";
import { DAY_MS, HOUR_MS } from "../../src/base/time";
import type { TestApp } from "./app";
import { createWebhook } from "./examined";

export interface DemoWebhooks {
  /** Ids by description. */
  ids: Record<string, string>;
  /** A delivery of the first webhook with more than one attempt. */
  retried: string;
}

interface Plan {
  input: CreateWebhookBody & { description: string };
  /** Time since its creation, in ms. */
  ago: number;
  /**
   * Returns the result of an attempt, by its number among all attempts and among those of its
   * delivery.
   */
  answer(count: number, ofDelivery: number): Partial<TryResult>;
}

const OK = { statusCode: 204, latencyMs: 41 };

function plansOf({ shop }: { shop: DemoPage }): Plan[] {
  return [
    {
      input: { url: "https://relay.northwind.example/allclear", description: "On-call relay" },
      ago: 20 * DAY_MS,
      answer: (count, ofDelivery) =>
        count % 7 === 3 && ofDelivery === 1
          ? { statusCode: 503, latencyMs: 1_204, answer: '{"error":"draining connections"}' }
          : { ...OK, latencyMs: 30 + (count % 5) * 9 },
    },
    {
      input: {
        url: "https://hooks.slack.com/services/T0NORTHW/B0STATUS/a-part-that-is-not-shown",
        description: "#status in Slack",
        format: "slack",
        page: shop.row.id,
        events: [
          "incident.created",
          "incident.updated",
          "incident.resolved",
          "maintenance.started",
        ],
      },
      ago: 20 * DAY_MS,
      answer: () => ({ statusCode: 200, latencyMs: 163, answer: "ok" }),
    },
    {
      input: {
        url: "https://ntfy.northwind.example/warehouse",
        description: "Screen in the warehouse",
        format: "ntfy",
        settings: { token: "tk_notatokenofanybodys" },
      },
      ago: 26 * HOUR_MS,
      answer: () => ({ error: "The connection was refused.", latencyMs: 3 }),
    },
    {
      input: { url: "https://pager.example/v1/inbound", description: "The pager before this one" },
      ago: 12 * DAY_MS,
      answer: () => ({ statusCode: 410, latencyMs: 88, answer: "This inbox was closed." }),
    },
  ];
}

/** Returns the actions that create the webhooks; later events are queued for them. */
export function webhookEntries({ ctx }: TestApp, pages: { shop: DemoPage }, by: Actor): Entry[] {
  return plansOf(pages).map(({ input, ago }) => ({
    ago,
    act: (tx) => void createWebhook(ctx, tx, input, by),
  }));
}

const listRows = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(deliveries).orderBy(asc(deliveries.id)),
);
const listIds = selectMany((orm, _$: Record<string, never>) =>
  orm.select({ id: webhooks.id, description: webhooks.description }).from(webhooks),
);

/** Attempts the deliveries that were queued by `now`. */
export async function deliverAll(
  installation: TestApp,
  now: number,
  pages: { shop: DemoPage },
): Promise<DemoWebhooks> {
  const { db } = installation.ctx;
  const ids = Object.fromEntries(
    listIds(db, {}).map(({ id, description }) => [description ?? "", id]),
  );
  let retried = "";
  for (const { input, answer } of plansOf(pages)) {
    const webhookId = ids[input.description];
    const tries = { count: 0, answer };
    for (const row of listRows(db, {}).filter((one) => one.webhookId === webhookId)) {
      // In order, since later attempts depend on earlier ones.
      // oxlint-disable-next-line no-await-in-loop
      const outcome = await deliver(installation, now, row, tries);
      if (outcome === "retried" && input.description === "On-call relay") retried = row.id;
    }
  }
  return { ids, retried };
}

/** Attempts a delivery until it is over or due after `now`. */
async function deliver(
  { ctx, clock }: TestApp,
  now: number,
  row: typeof deliveries.$inferSelect,
  tries: Pick<Plan, "answer"> & { count: number },
): Promise<"retried" | undefined> {
  if (!getWebhookRecord(ctx.db, row.webhookId, now).row.enabled) {
    // A disabled webhook would have had no queued deliveries.
    await ctx.db.write((tx) => deleteUntried(tx, { id: row.id }));
    return undefined;
  }
  let due: number | undefined = row.createdAt;
  let number = 0;
  while (due !== undefined && due <= now) {
    number += 1;
    tries.count += 1;
    clock.setWallClock(due);
    const result: TryResult = {
      at: due,
      latencyMs: 0,
      statusCode: null,
      error: null,
      answer: null,
      ...tries.answer(tries.count, number),
    };
    // Each attempt depends on the one before.
    // oxlint-disable-next-line no-await-in-loop
    due = await ctx.db.write((tx) => recordTry(ctx, tx, row.id, result, clock.now()));
  }
  return number > 1 ? "retried" : undefined;
}
