import { createComponent, createGroup } from "../../src/features/components";
import { addUpdate, createIncident } from "../../src/features/incidents";
import { createPage } from "../../src/features/pages";
import type { AppContext } from "../../src/context";
import { CLI_ACTOR } from "../../src/kernel/actor";

const GROUPS = 20;
const COMPONENTS_OF_GROUP = 10;
const DAYS = 365;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
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

/**
 * Writes a page of 200 components and a year of incidents, evenly spread: each was told in four
 * updates and marked two components for an hour and a half; the last five are open.
 */
export async function seedHistory(ctx: AppContext, incidents: number): Promise<History> {
  const slug = "large";
  const componentIds = await ctx.db.write((tx) => {
    const page = createPage(ctx, tx, { slug, name: "Large Status" }, CLI_ACTOR);
    return Array.from({ length: GROUPS }, (_, group) => {
      const place = { position: group, managedBy: null };
      const { id } = createGroup(ctx, tx, page, { name: `Region ${group}` }, place, CLI_ACTOR);
      return Array.from({ length: COMPONENTS_OF_GROUP }, (__, index) => {
        const position = group * COMPONENTS_OF_GROUP + index;
        const fields = { name: `Service ${position}`, start_date: "2020-01-01" };
        const at = { ...place, position, groupId: id };
        return createComponent(ctx, tx, page, fields, at, CLI_ACTOR).id;
      });
    }).flat();
  });
  const incidentIds: string[] = [];
  const now = ctx.clock.now();
  for (let ago = incidents; ago > 0; ago--) {
    const isOpen = ago <= OPEN;
    const startedAt = now - Math.floor((ago * DAYS * DAY_MS) / incidents);
    const at = (minutes: number) => new Date(startedAt + minutes * MINUTE_MS).toISOString();
    const named = (offset: number) => componentIds[(ago * 7 + offset) % componentIds.length] ?? "";
    const id = await ctx.db.write((tx) => {
      const { row } = createIncident(
        ctx,
        tx,
        {
          page: slug,
          name: `Elevated error rates, no. ${ago}`,
          body: TEXT,
          started_at: at(0),
          components: { [named(0)]: "partial_outage", [named(1)]: "degraded_performance" },
        },
        "api",
        CLI_ACTOR,
      );
      for (const [minutes, status] of [
        [20, "identified"],
        [60, "monitoring"],
        [90, isOpen ? "investigating" : "resolved"],
      ] as const) {
        const update = { body: TEXT, status, display_at: at(minutes) };
        addUpdate(ctx, tx, row.id, update, CLI_ACTOR);
      }
      return row.id;
    });
    incidentIds.unshift(id);
  }
  return { slug, componentIds, incidentIds };
}
