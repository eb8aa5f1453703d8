import { describe, expect, test } from "bun:test";
import type { Tx } from "../../src/db/statements";
import { CLI_ACTOR } from "../../src/base/actor";
import type { Answer, TestApp } from "../support/app";
import { readHtml } from "../support/html";
import { createIncidentDashboard, incidentScreen } from "../support/incident-dashboard";
import { createMaintenanceDashboard, idIn } from "../support/maintenance-dashboard";
import { addMaintenanceUpdate, addUpdate } from "../support/examined";

const LONG = 10_000;
const UPDATES = 24;

/** Returns a text of the greatest length of an update, with a unique first word. */
const bodyOf = (index: number) => `text-${index} `.padEnd(LONG, "and so on ");

/** Returns the updates on a screen, its link to older ones and all pagination links. */
function textsOn({ status, text }: Answer) {
  expect(status).toBe(200);
  const page = readHtml(text);
  const texts = page.texts(".text").flatMap((it) => /text-\d+/.exec(it)?.[0] ?? []);
  const links = page.attributes(".pagination a", "href");
  return { texts, older: links.find((it) => it.includes("before=")), links };
}

/** Returns the updates of all pages, from the newest to the oldest. */
async function walk(screen: string, show: (path: string) => Promise<Answer>) {
  const parts: string[][] = [];
  for (let path: string | undefined = screen; path !== undefined;) {
    const { texts, older, links } = textsOn(await show(path));
    if (path !== screen) expect(links).toContain(screen);
    parts.push(texts);
    path = older;
  }
  return parts;
}

const NEWEST_FIRST = Array.from({ length: UPDATES }, (_, index) => `text-${UPDATES - 1 - index}`);

/** Adds the updates, a second apart. */
async function writeLongTexts({ ctx, clock }: TestApp, write: (tx: Tx, body: string) => unknown) {
  for (let index = 0; index < UPDATES; index++) {
    clock.advance(1_000);
    await ctx.db.write((tx) => void write(tx, bodyOf(index)));
  }
}

describe("a timeline of many long updates", () => {
  test("the timeline of an incident is paginated, newest first, with each update once", async () => {
    await using dashboard = await createIncidentDashboard();
    const { id } = await dashboard.site.open();
    const screen = incidentScreen(id);
    const { app } = dashboard.site;
    await writeLongTexts(app, (tx, body) => addUpdate(app.ctx, tx, id, { body }, CLI_ACTOR));
    const parts = await walk(screen, dashboard.show);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(10);
    expect(parts.flat()).toEqual(NEWEST_FIRST);
    // An address that was mistyped begins at the newest.
    const mistyped = textsOn(await dashboard.show(`${screen}?before=upd_none`));
    expect(mistyped.texts).toEqual(parts[0] ?? []);
    expect(mistyped.links).not.toContain(screen);
  });

  test("the timeline of a maintenance is paginated, newest first, with each update once", async () => {
    await using dashboard = await createMaintenanceDashboard();
    const id = idIn(await dashboard.plan());
    const { app } = dashboard.site;
    await writeLongTexts(app, (tx, body) =>
      addMaintenanceUpdate(app.ctx, tx, id, { body }, CLI_ACTOR),
    );
    const parts = await walk(`/admin/maintenance/${id}`, dashboard.open);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.flat()).toEqual(NEWEST_FIRST);
  });

  test("a short timeline has no pagination links", async () => {
    await using dashboard = await createIncidentDashboard();
    const { id } = await dashboard.site.open({ body: "text-1" });
    expect(textsOn(await dashboard.show(incidentScreen(id)))).toEqual({
      texts: ["text-1"],
      older: undefined,
      links: [],
    });
  });
});
