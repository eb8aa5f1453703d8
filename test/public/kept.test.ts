import { expect, test } from "bun:test";
import fc from "fast-check";
import { findPageBySlug, updatePage } from "../../src/features/pages";
import { buildSnapshot } from "../../src/features/status";
import { CLI_ACTOR } from "../../src/kernel/actor";
import { COMPONENT_STATUSES } from "../../src/kernel/component-status";
import { INCIDENT_STATUSES } from "../../src/kernel/incident-status";
import { MINUTE_MS, toIso } from "../../src/kernel/time";
import { readBeside, renderStatusPage } from "../../src/public/status-page";
import { V2_DOCUMENTS, type V2Document } from "../../src/public/v2/documents";
import { createPublicSite, type PublicSite } from "../support/public-site";

const ACTS = [
  "open",
  "update",
  "rename",
  "edit",
  "delete incident",
  "set",
  "describe",
  "reorder",
  "plan",
  "tell",
  "preview",
  "arrange",
  "wait",
] as const;

const anyStep = fc.record({
  act: fc.constantFrom(...ACTS),
  component: fc.constantFrom("API", "Web", "Docs"),
  componentStatus: fc.constantFrom(...COMPONENT_STATUSES),
  status: fc.constantFrom(...INCIDENT_STATUSES),
  which: fc.nat({ max: 5 }),
  minutes: fc.nat({ max: 3_000 }),
});
type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never;

/** Does what a step says; what it says of something that is not there is refused, and changes nothing. */
async function act(site: PublicSite, step: Step): Promise<void> {
  const { app, key } = site;
  const id = site.ids[step.component] ?? "";
  const send = (method: string, path: string, json?: unknown) =>
    app.call(`/api/v1${path}`, { method, key, ...(json === undefined ? {} : { json }) });
  const earlier = toIso(app.clock.now() - step.minutes * MINUTE_MS);
  const components = { [id]: step.componentStatus };
  const anyOf = async (what: "incidents" | "maintenance"): Promise<string> => {
    const all = (await app.call(`/api/v1/${what}`, { key })).body.data as { id: string }[];
    return all[step.which % Math.max(1, all.length)]?.id ?? "none";
  };
  switch (step.act) {
    case "open":
      await site.open({ components, started_at: earlier });
      break;
    case "update":
      await send("POST", `/incidents/${await anyOf("incidents")}/updates`, {
        body: `More, ${step.which}.`,
        status: step.status,
        components,
      });
      break;
    case "rename":
      await send("PATCH", `/incidents/${await anyOf("incidents")}`, {
        name: `Trouble ${step.which}`,
      });
      break;
    case "edit": {
      const own = await anyOf("incidents");
      const { body } = await app.call(`/api/v1/incidents/${own}`, { key });
      const update = body.updates?.[step.which % body.updates.length]?.id;
      await send("PATCH", `/incidents/${own}/updates/${update}`, {
        body: `Mended ${step.minutes}`,
        display_at: earlier,
      });
      break;
    }
    case "delete incident":
      await send("DELETE", `/incidents/${await anyOf("incidents")}`);
      break;
    case "set":
      await send("PATCH", `/components/${id}`, { status: step.componentStatus });
      break;
    case "describe":
      await send("PATCH", `/components/${id}`, {
        name: `Named ${step.which}`,
        start_date: earlier.slice(0, 10),
        showcase: step.which !== 0,
      });
      break;
    case "reorder":
      await send("PATCH", `/components/${id}`, { position: step.which });
      break;
    case "plan":
      await site.plan(
        toIso(app.clock.now() + step.minutes * MINUTE_MS),
        toIso(app.clock.now() + (step.minutes + 30) * MINUTE_MS),
        { components: [id] },
      );
      break;
    case "tell":
      await send("POST", `/maintenance/${await anyOf("maintenance")}/updates`, {
        body: "On.",
        status: ["in_progress", "completed", "cancelled"][step.which % 3],
      });
      break;
    case "preview":
      await preview(site, await anyOf("incidents"), step);
      break;
    case "arrange":
      await arrange(site, step);
      break;
    case "wait":
      // To the next five minutes, at which all figures are made anew: kept ones are as old as these.
      await app.clock.advance((1 + step.which) * 5 * MINUTE_MS);
  }
}

/** Previews an update: the page is made with it, and then it is undone. */
async function preview({ app, ids }: PublicSite, incident: string, step: Step): Promise<void> {
  const session = await app.signedIn("editor");
  const form = {
    status: step.status,
    body: "Nobody reads this.",
    [`component:${ids[step.component]}`]: step.componentStatus,
  };
  const path = `/admin/incidents/${incident}/updates/preview`;
  const { status, text } = await app.call(path, { method: "POST", session, form });
  if (status === 200) expect(text).toContain("Nobody reads this.");
}

/** Changes the page itself. */
async function arrange({ app, page }: PublicSite, { which }: Step): Promise<void> {
  const change = [
    { time_zone: "Europe/Berlin" },
    { locale: "de" },
    { history_days: 90 as const },
    { description: "All about it." },
    { accent: "#0b6b53" },
    { time_zone: "UTC", locale: "en" },
  ][which];
  await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, change ?? {}, CLI_ACTOR));
}

const minutesPast = (site: PublicSite) => (site.app.clock.now() / MINUTE_MS) % 5;

const incidentsOf = (source: Parameters<V2Document["make"]>[0]) =>
  V2_DOCUMENTS.find(({ path }) => path === "incidents.json")?.make(source);

test("what is kept of a page is what would be made of it at its five minutes, whatever was done to it", async () => {
  let shown = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 14 }), async (steps) => {
      await using site = await createPublicSite({ history_days: 30 });
      const { app } = site;
      expect(minutesPast(site)).toBe(0);
      for (const step of steps) {
        await act(site, step);
        const now = app.clock.now();
        const page = findPageBySlug(app.ctx.db, { slug: "acme" });
        if (!page) throw new Error("the page is gone");
        const anew = buildSnapshot(app.ctx.db, page, app.ctx.baseUrl, now);
        const kept = site.snapshot();
        expect(kept.document).toEqual(anew.document);
        expect([...kept.days]).toEqual([...anew.days]);
        const { html } = renderStatusPage(anew, readBeside(app.ctx.db, anew, now), now);
        expect((await app.call("/status/acme")).text).toBe(html);
        const v2 = incidentsOf({ snapshot: anew, reader: app.ctx.db, now });
        expect((await app.call("/status/acme/api/v2/incidents.json")).body).toEqual(v2);
        shown += anew.document.incidents.length + anew.document.maintenance.length;
      }
    }),
    { numRuns: 25 },
  );
  expect(shown).toBeGreaterThan(20);
}, 60_000);
