import type { Actor } from "../base/actor";
import { COMPAT_PRODUCTS } from "../base/compat";
import { crc32, type RandomBytes } from "../base/hash";
import type { ComponentStatus } from "../base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../base/time";
import { composed } from "../base/validation";
import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import { createComponent, createGroup } from "../features/components/components";
import { createTemplate } from "../features/incident-templates/templates";
import { addUpdate, createIncident, putPostmortem } from "../features/incidents/incidents";
import type { AddUpdateBody, CreateIncidentBody, IncidentSource } from "../features/incidents/wire";
import { advanceMaintenance } from "../features/maintenance/clock";
import { planMaintenance } from "../features/maintenance/maintenance";
import { createSchedule } from "../features/maintenance/schedules/schedules";
import { createPage } from "../features/pages/pages";
import type { PageRow } from "../features/pages/store";
import type { PageInput } from "../features/pages/wire";
import incidents from "./past-incidents.json";

interface Year {
  pages: { open: DemoPage; inside: DemoPage };
  actor: Actor;
  /** User who reports every second incident. */
  editor: Actor;
  /** Start of the day, in unix ms. */
  today: number;
  fraction: Fraction;
}

/** Time before the day at which the open incident started, in ms. */
const OPEN_AGO = 140 * MINUTE_MS;

const MAINTENANCE_MS = 2 * HOUR_MS;

/** Returns the actions of a year, the oldest first: incidents, maintenance, a schedule and templates. */
export function diaryOf(ctx: Ctx, year: Year): Entry[] {
  const incidents = PAST_INCIDENTS.flatMap((past, index) =>
    incidentEntries({ ctx }, incidentOf(past, index, year)),
  );
  const all = [...incidents, ...maintenanceOf(ctx, year), ...templatesOf(ctx, year)];
  return all.toSorted((a, b) => b.ago - a.ago);
}

function templatesOf(ctx: Ctx, { editor }: Year): Entry[] {
  return TEMPLATES.map((template, index) => ({
    ago: (200 - 30 * index) * DAY_MS,
    act: (tx) => void createTemplate(ctx, tx, composed(template), editor),
  }));
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

function incidentOf(
  past: PastIncident,
  index: number,
  { pages, actor, editor, today, fraction }: Year,
) {
  const { name, component, status, minutes, report, cause, fix, end, postmortem } = past;
  const length = end === undefined ? 120 : minutes;
  const by = index % 2 === 0 ? editor : actor;
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
        composed({
          page: pages.open.row.id,
          name,
          body,
          components: [pages.open.component(component)],
          scheduled_for: toIso(from),
          scheduled_until: toIso(from + MAINTENANCE_MS),
        }),
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
        composed({
          page: pages.inside.row.id,
          name: "Weekly restart of the VPN",
          body: "Connections end and can be opened again at once.",
          components: [pages.inside.component("VPN")],
          // In three days, so that no occurrence is due today.
          cron: `0 3 * * ${(new Date(today).getUTCDay() + 3) % 7}`,
          duration_minutes: 15,
          time_zone: "UTC",
        }),
        actor,
      ),
  };
  return [...past, coming, schedule];
}

/** An action in the history of demo data. */
export interface Entry {
  /** Time before the present, in milliseconds. */
  ago: number;
  act(tx: Tx): void;
}

type IncidentUpdate = Omit<AddUpdateBody, "components"> & {
  by: Actor;
  /** Time after the incident's start, in milliseconds. */
  after: number;
  /** Component statuses by component name. */
  components?: Readonly<Record<string, ComponentStatus>>;
};

/** An incident from its beginning to its end. */
export interface DemoIncident {
  page: DemoPage;
  name: string;
  /** Time since its start, in ms. */
  ago: number;
  source?: IncidentSource;
  /** Other fields of the incident. */
  more?: Partial<CreateIncidentBody>;
  /** The updates; the first one is its report. */
  updates: readonly [IncidentUpdate, ...IncidentUpdate[]];
  postmortem?: { by: Actor; after: number; body: string; publish: boolean };
}

/** Returns the actions of an incident with their times. */
export function incidentEntries({ ctx }: { ctx: Ctx }, incident: DemoIncident): readonly Entry[] {
  const { page, name, ago, more, source = "dashboard", postmortem } = incident;
  const [first, ...later] = incident.updates;
  let id = "";
  const report: Entry = {
    ago: ago - first.after,
    act(tx) {
      const input = {
        page: page.row.id,
        name,
        body: first.body,
        components: namesToIds(page, first),
        started_at: new Date(ctx.clock.now() - first.after).toISOString(),
        ...more,
      };
      id = createIncident(ctx, tx, composed(input), source, first.by).row.id;
    },
  };
  const updates = later.map((update): Entry => {
    const { by, after, components, ...input } = update;
    const named = components ? { components: namesToIds(page, update) } : {};
    return {
      ago: ago - after,
      act: (tx) => void addUpdate(ctx, tx, id, composed({ ...input, ...named }), by),
    };
  });
  if (postmortem) {
    const { by, after, ...input } = postmortem;
    updates.push({
      ago: ago - after,
      act: (tx) => void putPostmortem(ctx, tx, id, composed(input), by),
    });
  }
  return [report, ...updates];
}

function namesToIds(page: DemoPage, { components = {} }: IncidentUpdate) {
  return Object.fromEntries(
    Object.entries(components).map(([name, status]) => [page.component(name), status]),
  );
}

/** An incident of the past year, without its time. */
interface PastIncident {
  name: string;
  component: string;
  status: ComponentStatus;
  /** Its length; 0 if it is open. */
  minutes: number;
  /** Effect for users, as it was reported. */
  report: string;
  cause: string;
  fix: string;
  /** Missing if it is open. */
  end?: string;
  postmortem?: string;
}

/** The incidents from the oldest to the newest. The last one is open. */
export const PAST_INCIDENTS = incidents as readonly PastIncident[];

/** Returns a fraction from 0 to below 1 that depends only on the parts. */
export type Fraction = (...parts: readonly (string | number)[]) => number;

/** Returns fractions that are equal for equal seeds. */
export function createFraction(seed: string): Fraction {
  return (...parts) => crc32(`${seed}/${parts.join("/")}`) / 2 ** 32;
}

/** Returns bytes that are equal in each run of a seed, for ids. They are no secrets. */
export function createSeededBytes(fraction: Fraction): RandomBytes {
  let drawn = 0;
  return (size) => Uint8Array.from({ length: size }, () => fraction("byte", drawn++) * 256);
}

/** A page of demo data. */
export interface DemoPage {
  row: PageRow;
  /** Returns the id of a component by its name. Throws for an unknown name. */
  component(name: string): string;
}

/** A page to be created. */
export interface PagePlan {
  page: PageInput;
  /** Component names by the name of their group; "" is no group. */
  components: Readonly<Record<string, readonly string[]>>;
}

/** Creates a page with its groups and components. */
export function addPage(ctx: Ctx, tx: Tx, plan: PagePlan, actor: Actor): DemoPage {
  const row = createPage(ctx, tx, composed(plan.page), actor);
  const ids = new Map<string, string>();
  for (const [part, [title, names]] of Object.entries(plan.components).entries()) {
    const place = { managedBy: null };
    const groupId =
      title === ""
        ? null
        : createGroup(ctx, tx, row, composed({ name: title }), { ...place, position: part }, actor)
            .id;
    for (const [position, name] of names.entries()) {
      const at = { ...place, position, groupId };
      ids.set(name, createComponent(ctx, tx, row, composed({ name }), at, actor).id);
    }
  }
  return {
    row,
    component(name) {
      const id = ids.get(name);
      if (id === undefined) throw new Error(`${row.name} has no component ${name}`);
      return id;
    },
  };
}

/** Public page of the demo: four groups with 14 components. */
export const PUBLIC_PAGE: PagePlan = {
  page: {
    slug: "meridian",
    name: "Meridian",
    description: "Live status of the shop, its payments and its platform.",
    default: true,
    compat: [...COMPAT_PRODUCTS],
  },
  components: {
    Shop: ["Website", "Checkout", "Search", "Live prices"],
    Payments: ["Card payments", "Bank transfer", "Refunds", "Invoices"],
    Platform: ["Public API", "Databases", "Background jobs"],
    Messages: ["Order e-mails", "Text messages", "Webhooks"],
  },
};

export const PRIVATE_PAGE: PagePlan = {
  page: { slug: "meridian-internal", name: "Meridian internal", visibility: "private" },
  components: { "": ["VPN", "Office network", "Exports"] },
};

/** A maintenance of two hours. */
interface Work {
  name: string;
  body: string;
  component: string;
}

/** Past maintenances, the oldest first. */
const WORKS: readonly Work[] = [
  {
    name: "New load balancers",
    body: "We replace the load balancers of the website one after the other. Pages may fail to load once or twice.",
    component: "Website",
  },
  {
    name: "Database upgrade",
    body: "The databases get a new version. For about five minutes, orders can be viewed and not changed.",
    component: "Databases",
  },
  {
    name: "Move to another payment provider",
    body: "Payments by card go to another provider. Bank transfer can be used all the time.",
    component: "Card payments",
  },
  {
    name: "Search index rebuilt",
    body: "Search finds all products meanwhile, but new products only afterwards.",
    component: "Search",
  },
  {
    name: "Network work in the second data centre",
    body: "All calls go to the first data centre meanwhile. Response times may be higher.",
    component: "Public API",
  },
  {
    name: "New version of the message queue",
    body: "Imports and stock counts wait for up to 20 minutes and then continue.",
    component: "Background jobs",
  },
  {
    name: "Renewal of webhook certificates",
    body: "Receivers that pin our certificate need the new one, which has been sent to their contacts.",
    component: "Webhooks",
  },
  {
    name: "Faster disks for the databases",
    body: "Each database moves to new disks. No interruption is expected.",
    component: "Databases",
  },
];

/** Templates that the team wrote for new incidents. */
const TEMPLATES = [
  {
    name: "Payments refused",
    title: "Some payments are refused",
    body: "Some payments are refused. Nobody is charged twice. We are in contact with the payment provider.",
  },
  {
    name: "Search outdated",
    title: "Search shows outdated results",
    body: "Search works, but misses the newest products. Product pages are up to date.",
  },
] as const;

/** The maintenance to come. */
const COMING_WORK: Work = {
  name: "Operating system updates",
  body: "The API servers are restarted one after the other. Single calls may fail and can be repeated.",
  component: "Public API",
};
