import { describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportReport } from "../../src/base/import-report";
import { requireWritable, writeOutputFiles } from "../../src/cli/import";
import { findPageBySlug } from "../../src/features/pages/store";
import { readImportFile } from "../../src/features/subscribers/transfer";
import { readStatuspage } from "../../src/imports/statuspage/read";
import { DAY_MS, HOUR_MS } from "../../src/base/time";
import { listCausesOfPage } from "../support/causes";
import { installedCommandLine, jsonOf } from "../support/command-line";
import { dumpOf } from "../support/database-dump";
import { createImportSite } from "../support/import-site";
import { createPublicSite, type PublicSite } from "../support/public-site";
import {
  API_KEY,
  componentOf,
  documentsOf,
  incidentOf,
  maintenanceOf,
  pageOf,
  type Parts,
  publicAnswers,
  restAnswers,
  statuspageServer,
  updateOf,
} from "../support/statuspage";
import { temporaryFolder } from "../support/temporary-folder";

const NO_OPTIONS = { apiKey: undefined, pageId: undefined, subscribersFile: undefined };
const SLUG = "status-acme-test";

/** Site into which the public documents of a page are imported. */
async function createSite() {
  const site = await createImportSite();
  const key = await site.app.keyWith(
    "read:status",
    "write:incidents",
    "write:components",
    "write:maintenance",
  );
  return Object.assign(site, {
    key,
    async importPage(parts: Parts): Promise<ImportReport> {
      const { deps } = statuspageServer(publicAnswers(documentsOf(parts)));
      const found = await readStatuspage("https://status.acme.test", NO_OPTIONS, deps);
      return site.importFound(found);
    },
    read: async (path: string) => (await site.app.call(`/api/v1/${path}`, { key })).body,
  });
}

/** Returns the verdict and the reason for an object of the source. */
function itemOf({ items }: ImportReport, type: string, id: string) {
  return items.find(({ foreign }) => foreign.type === type && foreign.id === id);
}

const DOCUMENTS = ["summary", "components", "incidents", "scheduled-maintenances"];

/** Reads the public documents of a page of ours. */
async function readDocuments(app: PublicSite["app"], slug: string): Promise<string> {
  const documents: unknown[] = [];
  for (const name of DOCUMENTS) {
    const { status, body } = await app.call(`/status/${slug}/api/v2/${name}.json`);
    if (status !== 200) throw new Error(`${name}: ${status}`);
    documents.push(body);
  }
  return JSON.stringify(documents, null, 1);
}

/**
 * Returns documents in which components have the day of their creation where they have no day from which uptime is
 * known. Without one it would begin with the import.
 */
function withStart(documents: string): string {
  const parsed: unknown = JSON.parse(documents, (_key, value) =>
    value?.group === false && value.start_date === null
      ? { ...value, start_date: value.created_at.slice(0, 10) }
      : value,
  );
  return JSON.stringify(parsed, null, 1);
}

/**
 * Returns documents with numbers in the place of ids, without the times of writing, and without the notifications of
 * updates, which an import does not send.
 */
function comparable(documents: string): string[] {
  const ids = new Map<string, string>();
  const numbered = documents.replaceAll(/\b(page|cmp|grp|inc|upd|mnt)_[0-9a-z]{26}\b/g, (id) => {
    const number = ids.get(id) ?? `${id.slice(0, 3)}${ids.size}`;
    ids.set(id, number);
    return number;
  });
  const differs = /^\s*"(?:created_at|updated_at|deliver_notifications)"/;
  return numbered.split("\n").filter((line) => !differs.test(line));
}

describe("an import from Statuspage", () => {
  test("creates the page with its groups, components, incidents and maintenance", async () => {
    await using site = await createSite();
    const report = await site.importPage({
      components: [
        componentOf("g", { name: "Core", group: true, position: 1 }),
        componentOf("api", { name: "API", group_id: "g", status: "degraded_performance" }),
      ],
      incidents: [incidentOf("inc1", { impact: "critical" })],
      maintenance: [maintenanceOf("m1")],
    });
    expect(report.counts).toEqual({ created: 4, changed: 1, not_moved: 5 });
    expect(itemOf(report, "page", "kctbh9vrtdwd")?.changes).toMatchObject([
      { field: "custom_domains", from: "status.acme.test", to: null },
    ]);
    const page = await site.read(`status/${SLUG}`);
    expect(page.components).toMatchObject([
      { name: "API", status: "degraded_performance", start_date: "2024-05-01" },
    ]);
    const { data: incidents } = await site.read(`incidents?page=${SLUG}`);
    expect(incidents).toMatchObject([
      {
        external_ref: "statuspage:default:inc1",
        status: "resolved",
        impact: "critical",
        started_at: "2026-03-01T10:00:00.000Z",
        resolved_at: "2026-03-01T12:00:00.000Z",
      },
    ]);
    const { data: maintenance } = await site.read(`maintenance?page=${SLUG}`);
    expect(maintenance).toMatchObject([
      { status: "scheduled", scheduled_for: "2026-03-20T02:00:00.000Z", auto_start: true },
    ]);
  });

  test("marks components as the incidents did, so that bars and uptime show them", async () => {
    await using site = await createSite();
    await site.importPage({ incidents: [incidentOf("inc1")] });
    const { page } = await site.read(`status/${SLUG}`);
    const all = listCausesOfPage(site.app.ctx.db, { pageId: page.id, since: 0 }).map(
      ({ cause }) => cause,
    );
    const causes = all.filter(({ source }) => source === "incident");
    const at = (hour: number) => Date.UTC(2026, 2, 1, hour);
    expect(causes).toMatchObject([
      { status: "degraded_performance", startedAt: at(10), endedAt: at(11) },
      { status: "partial_outage", startedAt: at(11), endedAt: at(12) },
    ]);
  });

  test("shows an unknown time zone as UTC, and names the difference", async () => {
    await using site = await createSite();
    const report = await site.importPage({ page: pageOf({ time_zone: "Base on Mars" }) });
    expect((await site.read(`status/${SLUG}`)).page.time_zone).toBe("UTC");
    expect(itemOf(report, "page", "kctbh9vrtdwd")?.changes).toContainEqual({
      field: "time_zone",
      from: "Base on Mars",
      to: "UTC",
      reason: "The time zone is not known.",
    });
  });

  test("changes nothing at the second time", async () => {
    await using site = await createSite();
    const parts = {
      components: [componentOf("api", { status: "major_outage" })],
      incidents: [incidentOf("inc1")],
      maintenance: [maintenanceOf("m1")],
    };
    await site.importPage(parts);
    const before = site.app.events().length;
    const again = await site.importPage(parts);
    expect(again).toMatchObject({ id: null, counts: { unchanged: 4, not_moved: 5 } });
    expect(site.app.events()).toHaveLength(before);
  });

  test("adds a new update of the source, and leaves what was edited here", async () => {
    await using site = await createSite();
    const open = (id: string, ...updates: unknown[]) =>
      incidentOf(id, { status: "identified", resolved_at: null, incident_updates: updates });
    const first = updateOf("investigating", "2026-03-10T08:00:00.000Z", { api: "major_outage" });
    const second = updateOf("identified", "2026-03-10T09:00:00.000Z", { api: "partial_outage" });
    await site.importPage({ incidents: [open("inc1", first), open("inc2", first)] });
    const { data } = await site.read(`incidents?page=${SLUG}`);
    const edited = data.find((one: { name: string }) => one.name === "Incident inc2");
    await site.app.call(`/api/v1/incidents/${edited.id}`, {
      method: "PATCH",
      key: site.key,
      json: { name: "Ours" },
    });
    const report = await site.importPage({
      incidents: [open("inc1", second, first), open("inc2", second, first)],
    });
    expect(itemOf(report, "incident", "inc1")?.verdict).toBe("updated");
    expect(itemOf(report, "incident", "inc2")).toMatchObject({
      verdict: "kept",
      reason: "It was edited here.",
    });
    const { data: after } = await site.read(`incidents?page=${SLUG}`);
    const byName = Object.fromEntries(
      after.map((one: { name: string; updates: unknown[] }) => [one.name, one.updates.length]),
    );
    expect(byName).toEqual({ "Incident inc1": 2, Ours: 1 });
  });

  test("of incidents alone changes no components, and goes on naming them", async () => {
    await using site = await createSite();
    const parts = { incidents: [incidentOf("inc1")], maintenance: [maintenanceOf("m1")] };
    await site.importPage(parts);
    const before = await readDocuments(site.app, SLUG);
    const alone = await site.importPage({ ...parts, components: [] });
    expect(alone.to_do[0]).toStartWith("The source has no components");
    expect(itemOf(alone, "incident", "inc1")?.verdict).toBe("unchanged");
    expect(itemOf(alone, "maintenance", "m1")?.verdict).toBe("unchanged");
    expect(itemOf(alone, "component", "api")?.verdict).toBe("kept");
    expect(await readDocuments(site.app, SLUG)).toBe(before);
  });

  test("takes the status of a component at the first time only", async () => {
    await using site = await createSite();
    const statusNow = async () => (await site.read(`status/${SLUG}`)).components[0].status;
    await site.importPage({ components: [componentOf("api", { status: "major_outage" })] });
    expect(await statusNow()).toBe("major_outage");
    const report = await site.importPage({ components: [componentOf("api")] });
    expect(itemOf(report, "component", "api")?.verdict).toBe("unchanged");
    expect(await statusNow()).toBe("major_outage");
  });

  test("leaves a maintenance under way that goes on after its planned end", async () => {
    await using site = await createSite();
    const overdue = maintenanceOf("mnt1", {
      status: "in_progress",
      scheduled_for: "2026-03-01T00:00:00.000Z",
      scheduled_until: "2026-03-01T01:00:00.000Z",
      incident_updates: [updateOf("in_progress", "2026-03-01T00:00:00.000Z")],
    });
    await site.importPage({ maintenance: [overdue] });
    const { data } = await site.read(`maintenance?page=${SLUG}`);
    expect(data).toMatchObject([{ status: "in_progress", auto_complete: false }]);
  });

  test("publishes post-mortems, and tells nobody", async () => {
    await using site = await createSite();
    const postmortem = {
      postmortem_body: "## Why",
      postmortem_published_at: "2026-03-04T09:00:00Z",
    };
    await site.importPage({ incidents: [incidentOf("inc1", postmortem)] });
    const [incident] = (await site.read(`incidents?page=${SLUG}`)).data;
    expect(incident.postmortem).toEqual({
      body: "## Why",
      published_at: "2026-03-04T09:00:00.000Z",
    });
    const events = site.app.events().filter(({ data }) => data["notify"] !== false);
    expect(
      events.map(({ type }) => type).filter((type) => /^(incident|maintenance)/.test(type)),
    ).toEqual([]);
  });

  test("rejects another page under the same name of the source", async () => {
    await using site = await createSite();
    await site.importPage({});
    const other = site.importPage({ page: pageOf({ id: "another" }) });
    await expect(other).rejects.toThrow("Choose another name for the source");
  });
});

describe("the subscribers of Statuspage", () => {
  test("are in a file that only its owner reads, and that an import of subscribers takes", async () => {
    await using site = await createImportSite();
    const lists = {
      components: [componentOf("api", { name: "API" }), componentOf("web", { name: "Web" })],
      subscribers: [
        { id: "s1", mode: "email", email: "anna@acme.test", components: [] },
        { id: "s2", mode: "email", email: "ben@acme.test", components: ["web", "gone"] },
        { id: "s3", mode: "sms", phone_number: "+15550100" },
      ],
    };
    using folder = temporaryFolder();
    const path = join(folder.path, "out.csv");
    // Of an earlier time, and readable by others.
    writeFileSync(path, "old".repeat(1_000), { mode: 0o644 });
    const { deps } = statuspageServer(restAnswers(lists));
    const options = { apiKey: API_KEY, pageId: "kctbh9vrtdwd", subscribersFile: path };
    const found = await readStatuspage("https://status.acme.test", options, deps);
    const report = await site.importFound(found);
    const lines: string[] = [];
    const output = { out() {}, err: (line: string) => void lines.push(line) };
    writeOutputFiles(output, found.files?.(report) ?? []);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(lines).toEqual([
      `Wrote 2 subscribers to ${path}. Next: allclear subscriber import ${path}, with --page and --consent.`,
    ]);
    const { db } = site.app.ctx;
    const page = findPageBySlug(db, { slug: "acme" });
    if (!page) throw new Error("there is no page");
    const reading = { badLinesMax: 10, allowUtf8Local: false };
    const file = await readImportFile(db, page, Bun.file(path).stream(), reading);
    expect(file.badLines).toEqual([]);
    expect(file.rows.map(({ address, choices }) => [address.key, choices.scope])).toEqual([
      ["anna@acme.test", "page"],
      ["ben@acme.test", "selection"],
    ]);
    const missing = [{ path: join(folder.path, "none", "out.csv"), text: "", summary: "" }];
    expect(() => writeOutputFiles(output, missing)).toThrow("The file cannot be written to");
    expect(() => requireWritable("file", missing[0]?.path ?? "")).toThrow("cannot be written to");
    requireWritable("file", path);
    expect(statSync(path).size).toBeGreaterThan(0);
  });
});

describe("a page of ours", () => {
  test("has equal documents after an import into another installation", async () => {
    await using source = await createPublicSite({
      name: "Acme",
      time_zone: "Europe/Berlin",
    });
    const { app, ids } = source;
    const { API = "", Web = "", Docs = "" } = ids;
    const named = (names: Record<string, string>) => ({ components: names });
    const over = await source.open({ name: "Slow", ...named({ [API]: "degraded_performance" }) });
    await app.clock.advance(HOUR_MS);
    await source.update(over.id, { status: "identified", ...named({ [API]: "major_outage" }) });
    await app.clock.advance(HOUR_MS);
    await source.update(over.id, { status: "resolved", ...named({ [API]: "operational" }) });
    const at = (hours: number) => new Date(app.clock.now() + hours * HOUR_MS).toISOString();
    const done = await source.plan(at(1), at(3), { name: "Done", components: [Web, Docs] });
    await app.clock.advance(HOUR_MS + 1);
    await source.updateMaintenance(done.id, { status: "in_progress" });
    await app.clock.advance(HOUR_MS);
    await source.updateMaintenance(done.id, { status: "completed" });
    await source.plan(at(48), at(50), { name: "To come", components: [API] });
    await source.open({ name: "Unknown", impact_override: "critical" });
    await app.clock.advance(HOUR_MS);
    await source.open({ name: "Open", ...named({ [Docs]: "partial_outage" }) });
    await app.clock.advance(DAY_MS);
    await app.call(`/api/v1/components/${Web}`, {
      method: "PATCH",
      key: source.key,
      json: { status: "degraded_performance" },
    });

    const before = await readDocuments(app, "acme");
    const [summary, components, incidents, scheduled_maintenances] = JSON.parse(before);
    const documents = { summary, components, incidents, scheduled_maintenances };
    const { deps } = statuspageServer(publicAnswers(documents, "/status/acme/"));
    const found = await readStatuspage("https://status.test/status/acme", NO_OPTIONS, deps);
    await using target = await createImportSite();
    await target.app.clock.advance(app.clock.now() - target.app.clock.now());
    const { counts } = await target.importFound(found);
    expect(counts).toMatchObject({ created: 10 });
    const after = await readDocuments(target.app, "acme");

    expect(comparable(after)).toEqual(comparable(withStart(before)));
  });
});

/** Data directory with the commands on it, and a server with the documents of a page. */
async function createCommandSite(parts: Parts = {}) {
  const folder = temporaryFolder();
  const documents = documentsOf(parts);
  const answers = publicAnswers(documents);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { status = 200, document } = answers(new URL(request.url));
      return Response.json(document ?? {}, { status });
    },
  });
  const data = join(folder.path, "data");
  const run = installedCommandLine(data);
  const allowed = { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" };
  return {
    path: folder.path,
    data,
    address: `http://127.0.0.1:${server.port}`,
    run: (args: string[], env: Record<string, string> = allowed) =>
      run(["import", "statuspage", ...args], env),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      folder[Symbol.dispose]();
    },
  };
}

describe("allclear import statuspage", () => {
  test("imports a page from its address, and says what is not moved", async () => {
    await using site = await createCommandSite({ incidents: [incidentOf("inc1")] });
    const { exitCode, out, err } = await site.run([site.address, "--yes"]);
    expect([exitCode, err.at(-1)]).toEqual([0, expect.stringMatching(/^Imported as imp_/)]);
    expect(out).toContain("  created    Component api  → component component-api");
    expect(out).toContain(
      "  not moved  Subscribers  Only the REST API has them. Import again with --api-key-file and --subscribers.",
    );
    expect(dumpOf(join(site.data, "allclear.db"))["incidents"]).toHaveLength(1);
  });

  test("imports saved documents, and the address of the same page after that changes nothing", async () => {
    await using site = await createCommandSite();
    const file = join(site.path, "saved.json");
    await Bun.write(file, JSON.stringify(documentsOf()));
    expect(jsonOf<ImportReport>(await site.run([file, "--yes", "--json"])).counts.created).toBe(1);
    const again = jsonOf<ImportReport>(await site.run([site.address, "--yes", "--json"]));
    expect(again.counts).toMatchObject({ unchanged: 2 });
  });

  test("refuses a private address that no setting allows, and writes nothing", async () => {
    await using site = await createCommandSite();
    const { exitCode, err } = await site.run([site.address, "--yes"], {});
    expect([exitCode, err.length]).toEqual([1, 1]);
    expect(err[0]).toContain("ALLCLEAR_OUTBOUND_ALLOW");
    expect(dumpOf(join(site.data, "allclear.db"))["pages"]).toEqual([]);
  });

  test("never shows the API key, whatever is wrong", async () => {
    await using site = await createCommandSite();
    const keyFile = join(site.path, "key");
    const keyed = (content: string, ...args: string[]) =>
      Bun.write(keyFile, content).then(() =>
        site.run([...args, "--yes", "--api-key-file", keyFile]),
      );
    const saved = await keyed(`${API_KEY}\n`, join(site.path, "saved.json"));
    expect([saved.exitCode, saved.err[0]]).toEqual([
      1,
      "With an API key, the source is the address of the page.",
    ]);
    const wrong = await keyed(`${API_KEY} ${API_KEY}\n`, site.address);
    expect([wrong.exitCode, wrong.err[0]]).toEqual([2, "--api-key-file is no key."]);
    const id = await keyed(API_KEY, site.address, "--page-id", "../../me");
    expect([id.exitCode, id.err[0]]).toEqual([2, "--page-id is no id."]);
    const shown = JSON.stringify([saved, wrong, id]);
    expect(shown).not.toContain(API_KEY);
    for (const file of readdirSync(site.data).filter((name) =>
      statSync(join(site.data, name)).isFile(),
    )) {
      expect((await Bun.file(join(site.data, file)).text()).includes(API_KEY)).toBe(false);
    }
  });

  test.each([
    [["--page-id", "abc"], "--page-id needs --api-key-file."],
    [["--subscribers", "out.csv"], "--subscribers needs --api-key-file."],
  ])("rejects %p without a key", async (args, problem) => {
    await using site = await createCommandSite();
    const { exitCode, err } = await site.run([site.address, "--yes", ...args]);
    expect([exitCode, err]).toEqual([1, [problem]]);
  });
});
