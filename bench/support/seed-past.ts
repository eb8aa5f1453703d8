import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Ctx } from "../../src/context";
import type { Tx } from "../../src/db/statements";
import { advanceMaintenance } from "../../src/features/maintenance/clock";
import { CLI_ACTOR } from "../../src/base/actor";
import type { ComponentStatus } from "../../src/base/status";
import { openData } from "./open-data";
import type { Seed } from "./seed";
import { addUpdate, createIncident, planMaintenance } from "../../test/support/examined";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Longer than its bars reach back. */
const AGE_DAYS = 120;

/** Start in days before now, duration in minutes, name and component status of each incident. */
const INCIDENTS: readonly [number, number, string, ComponentStatus][] = [
  [88, 42, "Search answers slowly", "degraded_performance"],
  [81, 15, "Checkout refuses some cards", "partial_outage"],
  [74, 130, "Product pictures are missing in the mobile app", "partial_outage"],
  [66, 28, "Orders are confirmed late", "degraded_performance"],
  [59, 75, "The partner API answers with errors", "major_outage"],
  [47, 20, "Sign-in fails for new accounts", "partial_outage"],
  [39, 310, "Bank transfers are booked late", "degraded_performance"],
  [30, 55, "Database failover", "major_outage"],
  [23, 12, "Apple Pay is unavailable", "partial_outage"],
  [17, 95, "Delays in the delivery of mail", "degraded_performance"],
  [12, 33, "Recommendations are empty", "degraded_performance"],
  [8, 48, "Elevated error rates in the storefront", "partial_outage"],
  [3, 26, "Refunds are delayed", "degraded_performance"],
];

const INVESTIGATING =
  "We are looking into reports of failing requests. Orders that were placed are safe. The next update follows within half an hour.";
const IDENTIFIED =
  "A release of this morning holds connections for too long. We are taking it back, *region by region*.";
const MONITORING =
  "The release is taken back everywhere. Error rates are falling; we keep watching.";
const RESOLVED = "Everything has been normal for a while. A post-mortem follows.";

export interface Past {
  /** One that is going on, told in three updates. */
  openIncidentId: string;
  /** One that is planned, in three days. */
  scheduledId: string;
}

/**
 * Makes the seeded page old and gives it a quarter of a year as most have it: an incident a week, a
 * maintenance that is over, one that is planned, and an incident that is going on.
 */
export async function seedPast({ dataDir, slug, componentIds }: Seed): Promise<Past> {
  makeOld(join(dataDir, "allclear.db"));
  const { ctx, close } = openData(dataDir);
  try {
    return await ctx.db.write((tx) => {
      const now = ctx.clock.now();
      for (const [n, [days, minutes, name, status]] of INCIDENTS.entries()) {
        const ids = [n * 3, n * 3 + 1].map((at) => componentIds[at % componentIds.length] ?? "");
        const components = Object.fromEntries(
          ids.slice(0, 1 + (n % 2)).map((id) => [id, status] as const),
        );
        tell(ctx, tx, { slug, name, components, from: now - days * DAY_MS, minutes, isOver: true });
      }
      plan(ctx, tx, { slug, componentIds, name: "New switches", from: now - 20 * DAY_MS });
      while (advanceMaintenance(ctx, tx, now));
      return {
        openIncidentId: tell(ctx, tx, {
          slug,
          name: "Card payments fail for some customers",
          components: { [componentIds[7] ?? ""]: "partial_outage" },
          from: now - 50 * MINUTE_MS,
          minutes: 45,
          isOver: false,
        }),
        scheduledId: plan(ctx, tx, {
          slug,
          componentIds,
          name: "Database upgrade",
          from: now + 3 * DAY_MS,
        }),
      };
    });
  } finally {
    close();
  }
}

interface Told {
  slug: string;
  name: string;
  components: Record<string, ComponentStatus>;
  from: number;
  minutes: number;
  isOver: boolean;
}

function tell(ctx: Ctx, tx: Tx, told: Told): string {
  const { slug, name, components, from, minutes, isOver } = told;
  const at = (share: number) => new Date(from + minutes * share * MINUTE_MS).toISOString();
  const input = { page: slug, name, body: INVESTIGATING, started_at: at(0), components };
  const { id } = createIncident(ctx, tx, input, "api", CLI_ACTOR).row;
  for (const update of [
    { status: "identified", body: IDENTIFIED, display_at: at(0.3) },
    { status: "monitoring", body: MONITORING, display_at: at(0.7) },
    ...(isOver ? [{ status: "resolved", body: RESOLVED, display_at: at(1) } as const] : []),
  ] as const) {
    addUpdate(ctx, tx, id, update, CLI_ACTOR);
  }
  return id;
}

interface Plan {
  slug: string;
  componentIds: readonly string[];
  name: string;
  from: number;
}

/** Plans two hours of maintenance of two components. */
function plan(ctx: Ctx, tx: Tx, { slug, componentIds, name, from }: Plan): string {
  const input = {
    page: slug,
    name,
    body: "Services are moved to new machines one after another. Short interruptions are possible.",
    components: componentIds.slice(15, 17),
    scheduled_for: new Date(from).toISOString(),
    scheduled_until: new Date(from + 2 * HOUR_MS).toISOString(),
  };
  return planMaintenance(ctx, tx, input, CLI_ACTOR).id;
}

function makeOld(file: string): void {
  const database = new Database(file, { strict: true });
  try {
    for (const table of ["pages", "component_groups", "components"]) {
      database.run(`UPDATE ${table} SET created_at = created_at - ?`, [AGE_DAYS * DAY_MS]);
    }
  } finally {
    database.close();
  }
}
