import { pauseMonitor } from "../../src/features/monitors/monitors";
import { listIncidentsOfMonitor } from "../../src/features/monitors/overview-store";
import type { CreateMonitorBody } from "../../src/features/monitors/wire";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { applyTransition } from "../../src/features/monitors/engine/transitions";
import { newEvaluation } from "../../src/features/monitors/rules";
import { CLI_ACTOR } from "../../src/base/actor";
import type { MonitorState, OpenIncident } from "../../src/base/status";
import { MINUTE_MS, SECOND_MS } from "../../src/base/time";
import type { TestApp, TestPage } from "./app";
import { createMonitor } from "./examined";

/** Monitors that fail one after the other, and the incident that they share. */
export interface Storm {
  site: TestPage;
  /** Ids of the monitors, in the order in which they fail. */
  monitors: readonly string[];
  incidentId: string;
  /** Path of the incident's screen. */
  path: string;
  /** Applies a transition of a monitor now. */
  enter(monitorId: string, state: MonitorState): Promise<void>;
  pause(monitorId: string): Promise<void>;
}

const NAMES = [
  "Sign-in",
  "API",
  "Web app",
  "Card payments",
  "Search",
  "File uploads",
  "Job queue",
  "Database of the European region, second replica",
  "E-mail relay",
  "Push gateway",
];

/** Components of which each monitor has one, in turn. */
const COMPONENTS = ["Sign-in", "API", "Web app", "Payments"];

/** Lets monitors of a page fail, one every two seconds, the last one now. */
export async function createStorm(
  app: TestApp,
  options: { count: number; slug?: string; opens?: OpenIncident },
): Promise<Storm> {
  const { count, slug = "acme", opens = "automatic" } = options;
  const { ctx, clock } = app;
  const site = await app.page({ slug, name: "Acme" }, COMPONENTS);
  const monitors = await ctx.db.write((tx) =>
    Array.from({ length: count }, (_, index) => {
      const name = NAMES[index] ?? `Host ${index + 1}`;
      const body = {
        type: "http",
        name,
        config: { url: `https://${index + 1}.example.com/` },
        component_ids: [site.components[COMPONENTS[index % COMPONENTS.length] ?? ""] ?? ""],
        open_incident: opens,
        on_down: "major_outage",
      };
      return createMonitor(ctx, tx, body as CreateMonitorBody, CLI_ACTOR).record.row.id;
    }),
  );
  const enter = (id: string, state: MonitorState) =>
    ctx.db.write((tx) => {
      const { row, state: before } = getMonitorRecord(tx, id);
      const evaluation = newEvaluation(state, ctx.clock.now());
      applyTransition(ctx, tx, row, { from: before.state, evaluation, message: "Timed out." });
    });
  for (const id of monitors) {
    // In order, since the first one opens the incident.
    // oxlint-disable no-await-in-loop
    await enter(id, "up");
    clock.setWallClock(clock.now() + 2 * SECOND_MS);
    await enter(id, "down");
    // oxlint-enable no-await-in-loop
  }
  clock.setWallClock(clock.now() + 3 * MINUTE_MS);
  const [first = ""] = monitors;
  const [incident] = listIncidentsOfMonitor(ctx.db, { monitorId: first, limit: 1 });
  if (!incident) throw new Error("the first monitor opens an incident");
  return {
    site,
    monitors,
    incidentId: incident.id,
    path: `/admin/incidents/${incident.id}`,
    enter,
    pause: (id) => ctx.db.write((tx) => void pauseMonitor(ctx, tx, id, CLI_ACTOR)),
  };
}
