import type { Ctx } from "../context";
import type { Actor } from "../base/actor";
import { advanceMaintenance } from "../features/maintenance/clock";
import { createSchedule } from "../features/maintenance/schedules/schedules";
import { planMaintenance } from "../features/maintenance/plan";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../base/time";
import { type DemoIncident, type Entry, incidentEntries } from "./diary";
import type { DemoPage } from "./pages";
import type { Fraction } from "./seeded";
import { COMING_WORK, type Work, WORKS } from "./page-plans";
import { PAST_INCIDENTS, type PastIncident } from "./past-incidents";

interface Year {
  pages: { open: DemoPage; inside: DemoPage };
  actor: Actor;
  /** Start of the day, in unix ms. */
  today: number;
  fraction: Fraction;
}

/** Time before the day at which the open incident started, in ms. */
const OPEN_AGO = 140 * MINUTE_MS;
const MAINTENANCE_MS = 2 * HOUR_MS;

/** Returns the actions of a year, the oldest first: incidents, maintenance and a schedule. */
export function diaryOf(ctx: Ctx, year: Year): Entry[] {
  const incidents = PAST_INCIDENTS.flatMap((past, index) =>
    incidentEntries({ ctx }, incidentOf(past, index, year)),
  );
  return [...incidents, ...maintenanceOf(ctx, year)].toSorted((a, b) => b.ago - a.ago);
}

/**
 * Returns the start of an incident in unix ms. The last one is open; the others are
 * spread over the year, more of them in the last weeks.
 */
export function startOfIncident(index: number, today: number, fraction: Fraction): number {
  const last = PAST_INCIDENTS.length - 1;
  if (index === last) return today - OPEN_AGO;
  const days = 3 + 350 * ((last - index) / last) ** 1.6 + 2 * fraction("incident", index);
  return Math.round((today - days * DAY_MS) / MINUTE_MS) * MINUTE_MS;
}

function incidentOf(past: PastIncident, index: number, { pages, actor, today, fraction }: Year) {
  const { name, component, status, minutes, report, cause, fix, end, postmortem } = past;
  const length = end === undefined ? 120 : minutes;
  const by = actor;
  const after = (share: number) => Math.round(length * share) * MINUTE_MS;
  const incident: DemoIncident = {
    page: pages.open,
    name,
    ago: today - startOfIncident(index, today, fraction),
    updates: [
      { by, after: 0, body: report, components: { [component]: status } },
      { by, after: after(0.35), status: "identified", body: cause },
      { by, after: after(0.75), status: "monitoring", body: fix },
      ...(end === undefined
        ? []
        : [{ by, after: after(1), status: "resolved", body: end } as const]),
    ],
  };
  if (postmortem === undefined) return incident;
  return { ...incident, postmortem: { by, after: 30 * HOUR_MS, body: postmortem, publish: true } };
}

function maintenanceOf(ctx: Ctx, { pages, actor, today, fraction }: Year): Entry[] {
  const plan = ({ name, body, component }: Work, from: number): Entry => ({
    ago: today - from + 6 * DAY_MS,
    act: (tx) =>
      void planMaintenance(
        ctx,
        tx,
        {
          page: pages.open.row.id,
          name,
          body,
          components: [pages.open.component(component)],
          scheduled_for: toIso(from),
          scheduled_until: toIso(from + MAINTENANCE_MS),
        },
        actor,
      ),
  });
  const advance = (at: number): Entry => ({
    ago: today - at,
    act: (tx) => {
      while (advanceMaintenance(ctx, tx, at));
    },
  });
  const past = WORKS.flatMap((work, index) => {
    const days = Math.round((WORKS.length - index) * 42 - 20 * fraction("work", index));
    const from = today - days * DAY_MS + 2 * HOUR_MS;
    // A reminder is due before it starts.
    const steps = [from - DAY_MS, from - HOUR_MS, from, from + MAINTENANCE_MS];
    return [plan(work, from), ...steps.map(advance)];
  });
  const coming = plan(COMING_WORK, today + 4 * DAY_MS + 2 * HOUR_MS);
  const schedule: Entry = {
    ago: DAY_MS,
    act: (tx) =>
      void createSchedule(
        ctx,
        tx,
        {
          page: pages.inside.row.id,
          name: "Weekly restart of the VPN",
          body: "Connections end and can be opened again at once.",
          components: [pages.inside.component("VPN")],
          // In three days, so that no occurrence is due today.
          cron: `0 3 * * ${(new Date(today).getUTCDay() + 3) % 7}`,
          duration_minutes: 15,
          time_zone: "UTC",
        },
        actor,
      ),
  };
  return [...past, coming, schedule];
}
