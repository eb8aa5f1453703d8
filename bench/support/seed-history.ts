import { advanceMaintenance } from "../../src/features/maintenance/clock";
import type { Ctx } from "../../src/context";
import type { Tx } from "../../src/db/statements";
import { CLI_ACTOR } from "../../src/base/actor";
import {
  addUpdate,
  createComponent,
  createGroup,
  createIncident,
  createPage,
  planMaintenance,
} from "../../test/support/examined";

const GROUPS = 20;
const COMPONENTS_OF_GROUP = 10;
/** As many are told in one commit, which is what makes ten thousand of them a matter of seconds. */
const BATCH = 50;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const LASTING_MINUTES = 90;
const OPEN = 5;
const TEXT =
  "We are seeing **elevated error rates** for part of the requests in `eu-central`, and are looking into it. Affected customers see retries and slow answers; no data is lost. The next update follows in half an hour, or as soon as we know more.";

/** A large page with a past. */
export interface History {
  slug: string;
  componentIds: string[];
  /** Newest start first; the first few are open. */
  incidentIds: string[];
}

export interface HistoryOptions {
  incidents: number;
  /** Over how many days they are spread, up to now. */
  days: number;
  /** In how many updates each of them was told; at least 4. */
  updates: number;
  /** True if every second incident names the first component, which then has a long history. */
  hasWeakSpot?: boolean;
  /** Number of completed maintenances, spread over the same days; 0 by default. */
  maintenances?: number;
}

/**
 * Writes a page of 200 components and incidents evenly spread over the past: each marked two components
 * for an hour and a half; the last five are open.
 */
export async function seedHistory(ctx: Ctx, options: HistoryOptions): Promise<History> {
  const slug = "large";
  const componentIds = await ctx.db.write((tx) => seedComponents(ctx, tx, slug));
  const incidentIds: string[] = [];
  const now = ctx.clock.now();
  for (let left = options.incidents; left > 0; left -= BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, left) }, (_, n) => left - n);
    const ids = await ctx.db.write((tx) =>
      batch.map((ago) => {
        const startedAt = now - Math.floor((ago * options.days * DAY_MS) / options.incidents);
        const first = options.hasWeakSpot && ago % 2 === 0 ? 0 : ago * 7;
        const named = [0, 1].map((n) => componentIds[(first + n) % componentIds.length] ?? "");
        const told = { ago, slug, startedAt, named, updates: options.updates };
        return seedIncident(ctx, tx, told);
      }),
    );
    incidentIds.unshift(...ids.reverse());
  }
  await seedMaintenances(ctx, slug, componentIds, options);
  return { slug, componentIds, incidentIds };
}

function seedComponents(ctx: Ctx, tx: Tx, slug: string): string[] {
  const page = createPage(ctx, tx, { slug, name: "Large Status" }, CLI_ACTOR);
  return Array.from({ length: GROUPS }, (_, group) => {
    const place = { position: group, managedBy: null };
    const { id } = createGroup(ctx, tx, page, { name: `Region ${group}` }, place, CLI_ACTOR);
    return Array.from({ length: COMPONENTS_OF_GROUP }, (__, index) => {
      const position = group * COMPONENTS_OF_GROUP + index;
      const fields = { name: `Service ${position}`, start_date: "2000-01-01" };
      const at = { ...place, position, groupId: id };
      return createComponent(ctx, tx, page, fields, at, CLI_ACTOR).id;
    });
  }).flat();
}

async function seedMaintenances(
  ctx: Ctx,
  slug: string,
  componentIds: readonly string[],
  { days, maintenances = 0 }: HistoryOptions,
): Promise<void> {
  const now = ctx.clock.now();
  for (let ago = maintenances; ago > 0; ago--) {
    const from = now - Math.floor((ago * days * DAY_MS) / maintenances);
    const input = {
      page: slug,
      name: `New switches, no. ${ago}`,
      body: "Services are moved to new machines one after another.",
      components: [0, 1].map((n) => componentIds[(ago * 11 + n) % componentIds.length] ?? ""),
      scheduled_for: new Date(from).toISOString(),
      scheduled_until: new Date(from + 45 * MINUTE_MS).toISOString(),
    };
    await ctx.db.write((tx) => {
      planMaintenance(ctx, tx, input, CLI_ACTOR);
      while (advanceMaintenance(ctx, tx, now));
    });
  }
}

interface Told {
  /** Position from the end: 1 for the newest incident. */
  ago: number;
  slug: string;
  startedAt: number;
  /** Two components. */
  named: string[];
  updates: number;
}

function seedIncident(ctx: Ctx, tx: Tx, told: Told): string {
  const { ago, slug, startedAt, named, updates } = told;
  const [worse = "", better = ""] = named;
  const at = (update: number) => {
    const minutes = (LASTING_MINUTES * update) / (updates - 1);
    return new Date(startedAt + minutes * MINUTE_MS).toISOString();
  };
  const input = {
    page: slug,
    name: `Elevated error rates, no. ${ago}`,
    body: TEXT,
    started_at: at(0),
    components: { [worse]: "partial_outage", [better]: "degraded_performance" } as const,
  };
  const { id } = createIncident(ctx, tx, input, "api", CLI_ACTOR).row;
  const last = ago <= OPEN ? "investigating" : "resolved";
  for (let update = 1; update < updates; update++) {
    const status = update === updates - 1 ? last : update === 1 ? "identified" : "monitoring";
    addUpdate(ctx, tx, id, { body: TEXT, status, display_at: at(update) }, CLI_ACTOR);
  }
  return id;
}
