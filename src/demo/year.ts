import type { AppContext } from "../context";
import type { Actor } from "../domain/actor";
import { advanceMaintenance, createSchedule, planMaintenance } from "../features/maintenance";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../kernel/time";
import { type DemoIncident, type Entry, incidentEntries } from "./diary";
import type { DemoPage } from "./pages";
import type { Fraction } from "./seeded";
import { COMING_WORK, WORKS } from "./page-plans";
import { PAST_INCIDENTS, type PastIncident, postmortemOf } from "./past-incidents";

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
export function diaryOf(ctx: AppContext, year: Year): Entry[] {
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
  const { name, component, status, minutes, effect, cause, hasPostmortem } = past;
  const isOpen = minutes === 0;
  const length = isOpen ? 120 : minutes;
  const after = (share: number) => Math.round(length * share) * MINUTE_MS;
  const by = actor;
  const incident: DemoIncident = {
    page: pages.open,
    name,
    ago: today - startOfIncident(index, today, fraction),
    updates: [
      {
        by,
        after: 0,
        body: `${effect} We are looking into the cause.`,
        components: { [component]: status },
      },
      { by, after: after(0.35), status: "identified", body: cause },
      {
        by,
        after: after(0.75),
        status: "monitoring",
        body: isOpen
          ? "The backlog is getting smaller. We keep watching."
          : "A fix is in place. We watch whether it holds.",
      },
      ...(isOpen
        ? []
        : [
            {
              by,
              after: after(1),
              status: "resolved",
              body: "Everything works as usual.",
            } as const,
          ]),
    ],
  };
  if (!hasPostmortem) return incident;
  const postmortem = { by, after: 30 * HOUR_MS, body: postmortemOf(past), publish: true };
  return { ...incident, postmortem };
}

function maintenanceOf(ctx: AppContext, { pages, actor, today, fraction }: Year): Entry[] {
  const plan = (name: string, component: string, from: number): Entry => ({
    ago: today - from + 6 * DAY_MS,
    act: (tx) =>
      void planMaintenance(
        ctx,
        tx,
        {
          page: pages.open.row.id,
          name,
          body: "Short interruptions are possible.",
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
  const past = WORKS.flatMap(([name, component], index) => {
    const days = Math.round((WORKS.length - index) * 42 - 20 * fraction("work", index));
    const from = today - days * DAY_MS + 2 * HOUR_MS;
    // A reminder is due before it starts.
    const steps = [from - DAY_MS, from - HOUR_MS, from, from + MAINTENANCE_MS];
    return [plan(name, component, from), ...steps.map(advance)];
  });
  const [name, component] = COMING_WORK;
  const coming = plan(name, component, today + 4 * DAY_MS + 2 * HOUR_MS);
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
