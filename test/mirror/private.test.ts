import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import { deleteIncident } from "../../src/features/incidents/incidents";
import { putLogo } from "../../src/features/pages/logo";
import { SECOND_MS } from "../../src/base/time";
import { readAllTables } from "../support/database-dump";
import { demoClock, fillDemoData } from "../support/demo-data";
import { createMirrorSite, type MirrorSite } from "../support/mirror-site";
import { png } from "../support/pictures";
import { temporaryFolder } from "../support/temporary-folder";
import { updatePage } from "../support/examined";

const PAGES = "SELECT id FROM pages WHERE visibility = 'public' AND deleted_at IS NULL";
const INCIDENTS = `SELECT id FROM incidents WHERE deleted_at IS NULL AND draft = 0 AND page_id IN (${PAGES})`;
const MAINTENANCES = `SELECT id FROM maintenances WHERE deleted_at IS NULL AND page_id IN (${PAGES})`;

/** Everything that a visitor may read: columns and rows of these tables. */
const PUBLIC_TEXTS = [
  `SELECT id, slug, name, description, time_zone, custom_domains, logo FROM pages WHERE id IN (${PAGES})`,
  `SELECT id, name, description FROM component_groups WHERE page_id IN (${PAGES}) AND deleted_at IS NULL`,
  `SELECT id, name, description, start_date FROM components WHERE page_id IN (${PAGES})`,
  `SELECT id, name FROM incidents WHERE id IN (${INCIDENTS})`,
  `SELECT postmortem_body FROM incidents WHERE id IN (${INCIDENTS}) AND postmortem_published_at IS NOT NULL`,
  `SELECT id, body FROM incident_updates WHERE incident_id IN (${INCIDENTS})`,
  `SELECT id, name FROM maintenances WHERE id IN (${MAINTENANCES})`,
  `SELECT id, body FROM maintenance_updates WHERE maintenance_id IN (${MAINTENANCES})`,
];

/** Words of the program, times, and short texts, which private rows share with public documents. */
const COMMON = /^.{0,7}$|^Allclear$|^[a-z]+([._/ -][a-z]+)*$|^[\d:.TZ -]+$/s;

/** Returns the texts of a value: the text itself, and those in it if it is JSON. */
function* textsIn(value: unknown): Generator<string> {
  if (value instanceof Uint8Array) return;
  if (typeof value === "object" && value !== null) {
    for (const each of Object.values(value)) yield* textsIn(each);
  } else if (typeof value === "string") {
    if (/^[[{]/.test(value)) yield* textsIn(JSON.parse(value));
    else yield value;
  }
}

/** Returns all texts of the database that no visitor may read. */
function privateTexts(databasePath: string): string[] {
  using reader = new Database(databasePath, { readonly: true });
  const visible = PUBLIC_TEXTS.flatMap((sql) => [...textsIn(reader.query(sql).all())]).join("\n");
  const all = new Set(textsIn(readAllTables(reader)));
  // The address of a public object is as public as its id.
  const isVisible = (text: string) =>
    visible.includes(/^https:\/\/.+\/([a-z]+_[0-9a-z]+)$/.exec(text)?.[1] ?? text);
  return [...all].filter((text) => !COMMON.test(text) && !isVisible(text));
}

/** Adds what the demo data lacks: texts that were public once or never. */
async function addWithdrawn(site: MirrorSite): Promise<void> {
  const { app } = site;
  const { ctx } = app;
  const { page } = await app.page({ slug: "campaign", name: "Campaign" }, ["Raffle"]);
  const key = await app.keyWith("write:incidents");
  const send = async (method: string, path: string, json: object) => {
    const { status, body } = await app.call(`/api/v1/${path}`, { method, key, json });
    expect(status).toBeLessThan(300);
    return body.id;
  };
  const report = (slug: string, name: string) =>
    send("POST", "incidents", { page: slug, name, body: `${name}: the first update.` });
  await report("campaign", "The raffle draws nothing");
  const reviewed = await report("shop-status", "Prices are missing");
  const postmortem = { body: "Somebody pulled the wrong plug.", publish: true };
  await send("PUT", `incidents/${reviewed}/postmortem`, postmortem);
  const deleted = await report("shop-status", "Posted by mistake");
  await ctx.db.write((tx) => putLogo(ctx, tx, page.id, { bytes: png(40, 20) }, CLI_ACTOR));
  await site.pass(SECOND_MS);
  const before = site.paths().map((path) => `${path} ${site.read(path)}`);
  for (const text of ["The raffle draws nothing", postmortem.body, "Posted by mistake"]) {
    expect(before.some((content) => content.includes(text))).toBe(true);
  }
  await send("PUT", `incidents/${reviewed}/postmortem`, { ...postmortem, publish: false });
  await ctx.db.write((tx) => {
    updatePage(ctx, tx, page.id, { visibility: "private" }, CLI_ACTOR);
    deleteIncident(ctx, tx, deleted, CLI_ACTOR);
  });
}

test("no file of the mirror has a private text of a prepared installation", async () => {
  using folder = temporaryFolder();
  const databasePath = join(folder.path, "allclear.db");
  await using site = await createMirrorSite({ clock: demoClock(), databasePath });
  await fillDemoData(site.app);
  await addWithdrawn(site);
  await site.pass(SECOND_MS);
  const texts = privateTexts(databasePath);
  for (const text of [
    "Northwind internal",
    "maya@northwind.example",
    "On-call bot",
    "Somebody pulled the wrong plug.",
    "The raffle draws nothing",
    "Posted by mistake",
  ]) {
    expect(texts).toContain(text);
  }
  expect(texts.length).toBeGreaterThan(400);
  expect(site.paths().length).toBeGreaterThan(50);
  expect(site.mirror.state().error).toBeUndefined();
  const found = site.paths().flatMap((path) => {
    const content = `${path}\n${site.read(path)}`;
    return texts.filter((text) => content.includes(text)).map((text) => `${path}: ${text}`);
  });
  expect(found).toEqual([]);
}, 600_000);
