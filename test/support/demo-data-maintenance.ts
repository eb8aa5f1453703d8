import type { Actor } from "../../src/base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";
import type { DemoPage, Entry } from "../../src/demo/year";
import { advanceMaintenance } from "../../src/features/maintenance/clock";
import { cancelMaintenance } from "../../src/features/maintenance/maintenance";
import type { TestApp } from "./app";
import { addMaintenanceUpdate, createSchedule, planMaintenance } from "./examined";

interface Plan {
  page: DemoPage;
  name: string;
  body: string;
  /** Component names. */
  components: readonly string[];
  /**
   * Time since it was planned, in ms. Start and end use the same scale and are negative in the
   * future.
   */
  plannedAgo: number;
  beginsAgo: number;
  endsAgo: number;
  remindMinutesBefore?: number;
  /** An update while it was in progress. */
  update?: { ago: number; body: string };
  cancelledAgo?: number;
}

/**
 * Returns the actions of five maintenances: one is in progress, two are scheduled, one is completed
 * and one is cancelled. A schedule adds one each Sunday.
 */
export function maintenanceDiary(
  { ctx }: TestApp,
  now: number,
  { shop, inside }: { shop: DemoPage; inside: DemoPage },
  by: Actor,
): Entry[] {
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  /** Returns a time on another UTC day, in milliseconds before now. */
  const at = (inDays: number, hour: number) => now - (today + inDays * DAY_MS + hour * HOUR_MS);
  const plans: readonly Plan[] = [
    {
      page: shop,
      name: "Database upgrade",
      body: "We move the orders to a new version of their database. For a few minutes nothing can be ordered; what is in the basket stays there.",
      components: ["Storefront", "Checkout"],
      plannedAgo: 4 * DAY_MS,
      beginsAgo: at(3, 2),
      endsAgo: at(3, 4),
      remindMinutesBefore: 1440,
    },
    {
      page: shop,
      name: "Search index is rebuilt",
      body: "Results may be incomplete for a while.",
      components: ["Search"],
      plannedAgo: DAY_MS,
      beginsAgo: at(9, 22),
      endsAgo: at(10, 1),
    },
    {
      page: inside,
      name: "New machines for the build farm",
      body: "Builds wait until it is done.",
      components: ["Build farm"],
      plannedAgo: 2 * DAY_MS,
      beginsAgo: at(0, 13),
      endsAgo: at(0, 16),
      update: { ago: 35 * MINUTE_MS, body: "Half of the machines are exchanged." },
    },
    {
      page: shop,
      name: "Move to another payment provider",
      body: "Payments by card pause for ten minutes.",
      components: ["Checkout"],
      plannedAgo: 27 * DAY_MS,
      beginsAgo: at(-20, 3),
      endsAgo: at(-20, 4),
    },
    {
      page: shop,
      name: "Network of the second data centre",
      body: "No effect is expected.",
      components: ["Storefront", "Checkout", "Search", "Product images", "Order emails"],
      plannedAgo: 45 * DAY_MS,
      beginsAgo: at(-41, 1),
      endsAgo: at(-41, 2),
      cancelledAgo: 43 * DAY_MS,
    },
  ];
  const byTheClock = (ago: number): Entry => ({
    ago,
    act: (tx) => void advanceMaintenance(ctx, tx, ctx.clock.now()),
  });
  const schedule: Entry = {
    ago: HOUR_MS,
    act: (tx) =>
      void createSchedule(
        ctx,
        tx,
        {
          page: shop.row.id,
          name: "Weekly restart of the search",
          body: "Search is slow for a few minutes.",
          components: [shop.component("Search")],
          cron: "0 3 * * SUN",
          duration_minutes: 30,
          time_zone: "Europe/Berlin",
        },
        by,
      ),
  };
  return [
    ...plans.flatMap((plan) => [
      ...entriesOf(ctx, now, plan, by),
      ...[plan.beginsAgo, plan.endsAgo].filter((ago) => ago > 0).map(byTheClock),
    ]),
    schedule,
  ];
}

function entriesOf(ctx: TestApp["ctx"], now: number, plan: Plan, by: Actor): Entry[] {
  const { page, update, cancelledAgo, remindMinutesBefore } = plan;
  let id = "";
  const input = {
    page: page.row.id,
    name: plan.name,
    body: plan.body,
    components: plan.components.map((name) => page.component(name)),
    scheduled_for: new Date(now - plan.beginsAgo).toISOString(),
    scheduled_until: new Date(now - plan.endsAgo).toISOString(),
    ...(remindMinutesBefore === undefined ? {} : { remind_minutes_before: remindMinutesBefore }),
  };
  const entries: Entry[] = [
    { ago: plan.plannedAgo, act: (tx) => void (id = planMaintenance(ctx, tx, input, by).id) },
  ];
  if (update) {
    const { ago, body } = update;
    entries.push({ ago, act: (tx) => void addMaintenanceUpdate(ctx, tx, id, { body }, by) });
  }
  if (cancelledAgo !== undefined) {
    entries.push({ ago: cancelledAgo, act: (tx) => void cancelMaintenance(ctx, tx, id, by) });
  }
  return entries;
}
