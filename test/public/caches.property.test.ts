import { expect, test } from "bun:test";
import { pageWordsOf } from "../../src/ui/words";
import fc from "fast-check";
import type { Tx } from "../../src/db/statements";
import { Problem } from "../../src/base/errors";
import { deleteComponent } from "../../src/features/components/components";
import { deleteIncident } from "../../src/features/incidents/incidents";
import { applyTransition } from "../../src/features/monitors/engine/transitions";
import type { CreateMonitorBody } from "../../src/features/monitors/wire";
import { newEvaluation } from "../../src/features/monitors/rules";
import { findPageBySlug } from "../../src/features/pages/store";
import { buildSnapshot } from "../../src/features/status/snapshots";
import { CLI_ACTOR } from "../../src/base/actor";
import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  INCIDENT_STATUSES,
  type IncidentStatus,
} from "../../src/base/status";
import { MINUTE_MS, toIso } from "../../src/base/time";
import { inLanguage, languageOfRequest, languageRendering } from "../../src/public/chosen-language";
import { findListedGroup } from "../../src/public/component-list";
import { readPageExtras, renderGroupPage, renderStatusPage } from "../../src/public/status-page";
import { V2_DOCUMENTS } from "../../src/public/compat/statuspage";
import { versionOf } from "../../src/public/site";
import { createPublicSite, type PublicSite } from "../support/public-site";
import { createComponent, createMonitor, updateComponent, updatePage } from "../support/examined";

/** Does what a step says, and answers whether that was done: what there is nothing of is refused. */
type Act = (site: PublicSite, step: Step) => Promise<boolean>;

const ACTS = {
  open: (site, step) =>
    done(site, "POST", "/incidents", {
      page: "acme",
      name: "Errors",
      body: "Hm.",
      components: componentsOf(site, step),
      started_at: earlier(site, step),
    }),
  update: async (site, step) =>
    done(site, "POST", `/incidents/${await anyOf("incidents", site, step)}/updates`, {
      body: `More, ${step.which}.`,
      status: step.status,
      components: componentsOf(site, step),
    }),
  rename: async (site, step) =>
    done(site, "PATCH", `/incidents/${await anyOf("incidents", site, step)}`, {
      name: `Trouble ${step.which}`,
    }),
  edit: async (site, step) => {
    const id = await anyOf("incidents", site, step);
    const { body } = await site.app.call(`/api/v1/incidents/${id}`, { key: site.key });
    const update = body.updates?.[step.which % body.updates.length]?.id;
    return done(site, "PATCH", `/incidents/${id}/updates/${update}`, {
      body: `Mended ${step.minutes}`,
      display_at: earlier(site, step),
    });
  },
  "delete an incident": async (site, step) => {
    const id = await anyOf("incidents", site, step);
    return written(site, (tx) => deleteIncident(site.app.ctx, tx, id, CLI_ACTOR));
  },
  set: (site, step) =>
    done(site, "PATCH", `/components/${componentOf(site, step)}`, { status: step.componentStatus }),
  describe: (site, step) =>
    written(site, (tx) =>
      updateComponent(
        site.app.ctx,
        tx,
        componentOf(site, step),
        {
          name: `Named ${step.which}`,
          description: "As described.",
          start_date: earlier(site, step).slice(0, 10),
          showcase: step.which !== 0,
          only_show_if_degraded: step.which === 1,
        },
        CLI_ACTOR,
      ),
    ),
  move: (site, step) =>
    written(site, (tx) =>
      updateComponent(site.app.ctx, tx, componentOf(site, step), {}, CLI_ACTOR, {
        position: step.which,
        ...(step.which === 3 ? { groupId: null } : {}),
      }),
    ),
  "delete a component": (site, step) =>
    step.which < 2
      ? written(site, (tx) => deleteComponent(site.app.ctx, tx, componentOf(site, step), CLI_ACTOR))
      : Promise.resolve(false),
  provider: (site, step) =>
    written(site, (tx) => {
      const { ctx } = site.app;
      const input = {
        type: "upstream" as const,
        name: "Provider",
        component_ids: [componentOf(site, step)],
        config: { url: "https://status.example.com/", public_name: `Cloud ${step.which}` },
      } satisfies CreateMonitorBody;
      const { row } = createMonitor(ctx, tx, input, CLI_ACTOR).record;
      const state = step.which % 2 === 0 ? ("down" as const) : ("degraded" as const);
      const evaluation = newEvaluation(state, ctx.clock.now());
      applyTransition(ctx, tx, row, { from: "pending", evaluation, message: "Major outage" });
    }),
  plan: (site, step) =>
    done(site, "POST", "/maintenance", {
      page: "acme",
      name: "Upgrade",
      body: "Planned.",
      components: [componentOf(site, step)],
      scheduled_for: toIso(site.app.clock.now() + step.minutes * MINUTE_MS),
      scheduled_until: toIso(site.app.clock.now() + (step.minutes + 30) * MINUTE_MS),
    }),
  updateMaintenance: async (site, step) =>
    done(site, "POST", `/maintenance/${await anyOf("maintenance", site, step)}/updates`, {
      body: "On.",
      status: ["in_progress", "completed", "cancelled"][step.which % 3],
    }),
  /** The page is made with an update, which is then undone. */
  preview: async (site, step) => {
    const { app } = site;
    const session = await app.signedIn("editor");
    const form = {
      status: step.status,
      body: "Nobody reads this.",
      [`component:${componentOf(site, step)}`]: step.componentStatus,
    };
    const path = `/admin/incidents/${await anyOf("incidents", site, step)}/updates/preview`;
    const { status, text } = await app.call(path, { method: "POST", session, form });
    return status === 200 && text.includes("Nobody reads this.");
  },
  arrange: ({ app, page }, { which }) => {
    const change = [
      { time_zone: "Europe/Berlin" },
      { locale: "de" },
      { history_days: 90 as const },
      { description: "All about it." },
      { accent: "#0b6b53" },
      { time_zone: "UTC", locale: "en" },
      { languages: ["de", "ja"] },
      { languages: ["en", "de"] },
      { languages: [] },
    ][which];
    return app.ctx.db.write((tx) => {
      updatePage(app.ctx, tx, page.id, change ?? {}, CLI_ACTOR);
      return true;
    });
  },
  dress: (site, { which, minutes }) => {
    const look = [
      { hide_uptime: true },
      { hide_uptime: false },
      { hide_history: true },
      { hide_history: false },
      { header: `Note ${minutes}`, footer: "Below" },
      { links: [{ name: `Shop ${minutes}`, url: "https://shop.example" }] },
      {
        notice: "Soon.",
        notice_until: toIso(site.app.clock.now() + (minutes % 20) * MINUTE_MS + 1),
      },
      { custom_css: `main{top:${minutes}px}` },
      { custom_css: null },
    ][which];
    return written(site, (tx) =>
      updatePage(site.app.ctx, tx, site.page.id, look ? { look } : {}, CLI_ACTOR),
    );
  },
  /** For as long as figures hold at most: those that are kept are as old as these then. */
  wait: async ({ app }, { which }) => {
    await app.clock.advance((1 + which) * 5 * MINUTE_MS);
    return true;
  },
} satisfies Record<string, Act>;

type ActName = keyof typeof ACTS;
const NAMES = Object.keys(ACTS) as ActName[];

interface Step {
  act: ActName;
  component: "API" | "Web" | "Docs";
  componentStatus: ComponentStatus;
  status: IncidentStatus;
  which: number;
  minutes: number;
}

const arbitraryStep: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom(...NAMES),
  component: fc.constantFrom("API", "Web", "Docs"),
  componentStatus: fc.constantFrom(...COMPONENT_STATUSES),
  status: fc.constantFrom(...INCIDENT_STATUSES),
  which: fc.nat({ max: 8 }),
  minutes: fc.nat({ max: 3_000 }),
});

async function done({ app, key }: PublicSite, method: string, path: string, json: unknown) {
  return (await app.call(`/api/v1${path}`, { method, key, json })).status < 300;
}

/** A refusal undoes what was written. */
async function written({ app }: PublicSite, change: (tx: Tx) => unknown): Promise<boolean> {
  try {
    await app.ctx.db.write(change);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

function componentOf({ ids }: PublicSite, { component }: Step): string {
  return ids[component] ?? "";
}

function componentsOf(site: PublicSite, step: Step): Record<string, ComponentStatus> {
  return { [componentOf(site, step)]: step.componentStatus };
}

function earlier({ app }: PublicSite, { minutes }: Step): string {
  return toIso(app.clock.now() - minutes * MINUTE_MS);
}

async function anyOf(what: "incidents" | "maintenance", site: PublicSite, { which }: Step) {
  const { body } = await site.app.call(`/api/v1/${what}`, { key: site.key });
  const all = body.data as { id: string }[];
  return all[which % Math.max(1, all.length)]?.id ?? "none";
}

const incidentsOf = (source: Parameters<(typeof V2_DOCUMENTS)[number]["make"]>[0]) =>
  V2_DOCUMENTS.find(({ path }) => path === "incidents.json")?.make(source);

/** Languages that visitors ask for, also where the page does not list them. */
const QUERIES = ["?lang=de", "?lang=ja"];

/** Adds so many components that the page folds its groups. */
function addMany({ app, page }: PublicSite): Promise<void> {
  return app.ctx.db.write((tx) => {
    for (let position = 3; position < 33; position++) {
      const place = { position, groupId: null, managedBy: null };
      createComponent(app.ctx, tx, page, { name: `Service ${position}` }, place, CLI_ACTOR);
    }
  });
}

const arbitrarySteps = fc.array(arbitraryStep, { minLength: 3, maxLength: 16 });

/** Acts in an order in which each finds what it needs. */
const ORDER: readonly ActName[] = [
  "open",
  "update",
  "rename",
  "edit",
  "preview",
  "set",
  "describe",
  "move",
  "provider",
  "plan",
  "updateMaintenance",
  "arrange",
  "dress",
  "wait",
  "delete a component",
  "delete an incident",
];
const ALL_ACTS = ORDER.map((act): Step => ({
  act,
  component: "API",
  componentStatus: "partial_outage",
  status: "identified",
  which: 0,
  minutes: 30,
}));

test("a cached page equals a newly rendered one in each language after any series of changes, as do pages of groups", async () => {
  const counts = new Map<ActName, number>();
  await fc.assert(
    fc.asyncProperty(arbitrarySteps, fc.boolean(), async (steps, isLarge) => {
      await using site = await createPublicSite({ history_days: 30 });
      const { app } = site;
      if (isLarge) await addMany(site);
      for (const step of steps) {
        if (await ACTS[step.act](site, step)) {
          counts.set(step.act, (counts.get(step.act) ?? 0) + 1);
        }
        const now = app.clock.now();
        const page = findPageBySlug(app.ctx.db, { slug: "acme" });
        if (!page) throw new Error("the page is gone");
        const rebuilt = buildSnapshot(app.ctx.db, page, app.ctx.baseUrl, now);
        const kept = site.snapshot();
        expect(kept.document).toEqual(rebuilt.document);
        expect([...kept.days]).toEqual([...rebuilt.days]);
        const extras = readPageExtras(app.ctx.db, rebuilt, now);
        const version = versionOf(kept, now);
        // All at the same time, so that they are prepared in turns.
        await Promise.all(
          ["", ...QUERIES].map(async (query) => {
            const { page: own } = rebuilt.document;
            const url = `https://status.test/status/acme${query}`;
            const shown = inLanguage(rebuilt, languageOfRequest({ url }, own));
            const rendering = { version, ...languageRendering(shown) };
            const { html } = renderStatusPage(shown, extras, now, rendering);
            expect((await app.call(`/status/acme${query}`)).text).toBe(html);
            for (const id of [...rebuilt.document.groups.map((group) => group.id), "other"]) {
              const group = findListedGroup(shown, id, pageWordsOf(shown.document.page.locale));
              const { text } = await app.call(`/status/acme/groups/${id}${query}`);
              if (group) expect(text).toBe(renderGroupPage(shown, group, extras, rendering).html);
              else expect(text).toContain("not_found");
            }
          }),
        );
        const v2 = incidentsOf({ snapshot: rebuilt, reader: app.ctx.db, now });
        expect((await app.call("/status/acme/api/v2/incidents.json")).body).toEqual(v2);
      }
    }),
    { numRuns: 60, examples: [[ALL_ACTS, false]] },
  );
  // Each act was one that did something.
  expect([...counts.keys()].toSorted()).toEqual(NAMES.toSorted());
}, 300_000);
