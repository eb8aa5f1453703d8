import { describe, expect, test } from "bun:test";
import { listAllTemplates } from "../../../../src/features/incident-templates/templates";
import { toIso } from "../../../../src/base/time";
import { createTestApp, expectProblem, type TestApp, type TestPage } from "../../../support/app";
import { apply, linesOf } from "../../../support/apply";
import { listCausesOfPage } from "../../../support/causes";
import { openForm } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { addTemplate } from "../../../support/incident-templates";

const HOUR = 3_600_000;
const RECEIVER = "https://receiver.example.com/hooks";

interface Site extends AsyncDisposable {
  app: TestApp;
  live: TestPage;
  old: TestPage;
  admin: string;
  api(method: string, path: string, json?: object): Promise<{ id: string }>;
  get(path: string): ReturnType<TestApp["call"]>;
  monitor(...componentIds: (string | undefined)[]): Promise<string>;
  /** Deletes the page old in the dashboard. */
  remove(): Promise<void>;
  /** Types of the events since the last call, with the id of what each is about. */
  newEvents(): string[];
}

async function createSite(): Promise<Site> {
  const app = await createTestApp();
  const live = await app.page({ slug: "live", name: "Live" }, ["Shop"]);
  const old = await app.page({ slug: "old", name: "Old" }, ["Mirror", "Archive"]);
  const admin = await app.signedIn("admin");
  const key = await app.keyWith(
    "read:status",
    "write:components",
    "write:incidents",
    "write:maintenance",
    "manage:monitors",
    "manage:webhooks",
  );
  const api: Site["api"] = async (method, path, json) => {
    const answer = await app.call(`/api/v1${path}`, { method, key, ...(json ? { json } : {}) });
    if (answer.status >= 400) throw new Error(answer.text);
    return answer.body;
  };
  let seen = 0;
  return {
    app,
    live,
    old,
    admin,
    api,
    get: (path) => app.call(`/api/v1${path}`, { key }),
    monitor: async (...component_ids) => {
      const config = { url: "https://shop.example.com/" };
      return (await api("POST", "/monitors", { type: "http", name: "M", config, component_ids }))
        .id;
    },
    async remove() {
      const path = `/admin/pages/${old.page.id}/delete`;
      const form = { form: await openForm(app, path, admin), slug: "old" };
      expect((await app.call(path, { session: admin, form })).status).toBe(303);
    },
    newEvents() {
      const events = app.events().map(({ type, subjectId }) => `${type} ${subjectId}`);
      return events.slice(seen, (seen = events.length));
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

function plan({ app, api, old }: Site, hours: number, name = "Upgrade") {
  const now = app.clock.now();
  return api("POST", "/maintenance", {
    page: "old",
    name,
    body: "A moment.",
    components: Object.values(old.components),
    scheduled_for: toIso(now + hours * HOUR),
    scheduled_until: toIso(now + (hours + 1) * HOUR),
  });
}

const report = ({ api, old }: Site, more: object) =>
  api("POST", "/incidents", {
    page: "old",
    name: "Errors",
    body: "We see errors.",
    components: { [old.components["Mirror"] ?? ""]: "major_outage" },
    ...more,
  });

describe("deleting a page", () => {
  test("deleting a page cancels its maintenance and deletes its open incidents, each with event and audit entry", async () => {
    await using site = await createSite();
    const { app, api, admin } = site;
    const planned = await plan(site, 5);
    const running = await plan(site, 3);
    await api("POST", `/maintenance/${running.id}/updates`, {
      status: "in_progress",
      body: "It begins.",
    });
    const open = await report(site, {});
    await report(site, { name: "Over", status: "resolved" });
    await report(site, { name: "Draft", draft: true });
    site.newEvents();
    const audited = app.audit().length;
    await site.remove();
    expect(site.newEvents()).toEqual([
      `maintenance.cancelled ${running.id}`,
      `maintenance.cancelled ${planned.id}`,
      `incident.deleted ${open.id}`,
    ]);
    const { data } = app.events().find(({ type }) => type === "maintenance.cancelled") ?? {};
    expect(data).toMatchObject({
      status: "cancelled",
      latest_update: { body: "The status page was deleted.", status: "cancelled" },
      notify: true,
    });
    const rows = app.audit().slice(audited);
    expect(rows.map(({ action }) => action)).toEqual([
      "maintenance.cancel",
      "maintenance.cancel",
      "incident.delete",
      "page.delete",
    ]);
    expect(new Set(rows.map(({ actorKind }) => actorKind))).toEqual(new Set(["user"]));
    for (const path of [`/maintenance/${running.id}`, `/incidents/${open.id}`, "/status/old"]) {
      expectProblem(await site.get(path), "not_found");
    }
    const overview = await app.call("/admin/maintenance", { session: admin });
    expect(overview.text).not.toContain("Upgrade");
    expect((await app.call(`/admin/maintenance/${running.id}`, { session: admin })).status).toBe(
      404,
    );
  });

  test("deleting a page ends every cause of its components and none of other pages", async () => {
    await using site = await createSite();
    const { app, api, live, old } = site;
    await report(site, {});
    const running = await plan(site, 3);
    const begin = { status: "in_progress", body: "It begins." };
    await api("POST", `/maintenance/${running.id}/updates`, begin);
    const degraded = { status: "degraded_performance" };
    await api("PATCH", `/components/${old.components["Archive"]}`, degraded);
    await api("PATCH", `/components/${live.components["Shop"]}`, degraded);
    const openCauses = ({ page }: TestPage) =>
      listCausesOfPage(app.ctx.db, { pageId: page.id, since: 0 })
        .map(({ cause }) => cause)
        .filter(({ endedAt }) => endedAt === null);
    expect(openCauses(old)).toHaveLength(4);
    site.newEvents();
    await site.remove();
    expect(openCauses(old)).toEqual([]);
    expect(openCauses(live)).toHaveLength(1);
    expect(site.newEvents().filter((event) => event.startsWith("component."))).toEqual([]);
    expectProblem(await site.get(`/components/${old.components["Mirror"]}`), "not_found");
    const shop = await site.get(`/components/${live.components["Shop"]}`);
    expect(shop.body.status).toBe("degraded_performance");
  });

  test("deleting a page removes its components from monitors and pauses monitors without others", async () => {
    await using site = await createSite();
    const { app, live, old, api } = site;
    const shop = live.components["Shop"];
    const both = await site.monitor(shop, old.components["Mirror"]);
    const idle = await site.monitor(old.components["Mirror"], old.components["Archive"]);
    const paused = await site.monitor(old.components["Archive"]);
    await api("POST", `/monitors/${paused}/pause`);
    const other = await site.monitor(shop);
    const alone = await site.monitor();
    const read = async (id: string) => (await site.get(`/monitors/${id}`)).body;
    const untouched = await Promise.all([other, alone].map(read));
    const before = await read(idle);
    const audited = app.audit().length;
    await site.remove();
    expect(await read(both)).toMatchObject({ component_ids: [shop], paused: false });
    expect(await read(idle)).toMatchObject({
      component_ids: [],
      paused: true,
      state: "paused",
      version: before.version + 1,
    });
    expect(await read(paused)).toMatchObject({ component_ids: [], paused: true });
    expect(await Promise.all([other, alone].map(read))).toEqual(untouched);
    const rows = app.audit().slice(audited);
    const actionOn = (id: string) => rows.find(({ targetId }) => targetId === id)?.action;
    expect([both, idle, paused, other].map(actionOn)).toEqual([
      "monitor.update",
      "monitor.pause",
      "monitor.update",
      undefined,
    ]);
  });

  test("deleting a page deletes its webhooks and keeps those of other pages and of every page", async () => {
    await using site = await createSite();
    const { app, api } = site;
    const make = (page: string | null) => api("POST", "/webhooks", { url: RECEIVER, page });
    const bound = await make("old");
    const kept = [await make("live"), await make(null)];
    const { id: running } = await plan(site, 3);
    const deliveriesOf = async (id = "") =>
      (await site.get(`/webhooks/${id}/deliveries`)).body.data.map(
        ({ event_type }: { event_type: string }) => event_type,
      );
    await site.remove();
    expectProblem(await site.get(`/webhooks/${bound.id}`), "not_found");
    for (const { id } of kept) expect((await site.get(`/webhooks/${id}`)).status).toBe(200);
    // Webhooks of every page receive the cancellation.
    expect(await deliveriesOf(kept[1]?.id)).toEqual([
      "maintenance.cancelled",
      "maintenance.scheduled",
    ]);
    expect(await deliveriesOf(kept[0]?.id)).toEqual([]);
    const row = app.audit().find(({ action }) => action === "webhook.delete");
    expect([row?.targetId, row?.actorKind]).toEqual([bound.id, "user"]);
    expectProblem(await site.get(`/maintenance/${running}`), "not_found");
  });

  test("the confirmation to delete a page counts everything that ends with it", async () => {
    await using site = await createSite();
    const { app, admin, old, live, api } = site;
    const path = `/admin/pages/${old.page.id}/delete`;
    const consequences = async () =>
      readHtml((await app.call(path, { session: admin })).text).texts("[data-dialog-body] li");
    expect(await consequences()).toEqual([]);
    await plan(site, 3);
    await report(site, {});
    await report(site, { name: "More errors" });
    await site.monitor(live.components["Shop"], old.components["Mirror"]);
    await site.monitor(old.components["Mirror"]);
    await api("POST", "/webhooks", { url: RECEIVER, page: "old" });
    await addTemplate(app, { page: "old" });
    expect(await consequences()).toEqual([
      "Planned maintenance: 1 (cancelled)",
      "Open incidents: 2 (deleted)",
      "Monitors without another page: 1 (paused)",
      "Webhooks for this page only: 1 (deleted)",
      "Incident templates for this page only: 1 (deleted)",
    ]);
  });

  test("deleting a page deletes its incident templates and keeps those of other pages and of all pages", async () => {
    await using site = await createSite();
    const { app } = site;
    const bound = await addTemplate(app, { page: "old" });
    const kept = [await addTemplate(app, { page: "live" }), await addTemplate(app)];
    await site.remove();
    const left = listAllTemplates(app.ctx.db).map(({ row }) => row.id);
    expect(left).toEqual(kept.map(({ id }) => id));
    const row = app.audit().find(({ action }) => action === "incident_template.delete");
    expect([row?.targetId, row?.actorKind]).toEqual([bound.id, "user"]);
  });

  test("deleting a page with a wrong slug ends nothing", async () => {
    await using site = await createSite();
    const { app, admin, old } = site;
    const { id } = await plan(site, 3);
    const monitor = await site.monitor(old.components["Mirror"]);
    const before = [app.events(), app.audit()];
    const path = `/admin/pages/${old.page.id}/delete`;
    const form = { form: await openForm(app, path, admin), slug: "live" };
    expect((await app.call(path, { session: admin, form })).status).toBe(422);
    expect([app.events(), app.audit()]).toEqual(before);
    expect((await site.get(`/maintenance/${id}`)).body.status).toBe("scheduled");
    expect((await site.get(`/monitors/${monitor}`)).body.paused).toBe(false);
  });
});

const LIVE = "{slug: live, name: Live, components: [{name: Shop}]}";
const OLD = "{slug: old, name: Old, components: [{name: Mirror, monitors: [NESTED]}]}".replace(
  "NESTED",
  "{name: Nested, type: tcp, config: {host: a.example.com, port: 80}}",
);
const MOVED = (component: string) =>
  `{name: Moved, type: tcp, config: {host: b.example.com, port: 80}, components: [${component}]}`;
const SECRET = "secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
const HOOK = (page: string, more = "") =>
  `{ref: hook, url: "${RECEIVER}", page: ${page}${more && `, ${more}`}}`;

describe("a page that apply --prune deletes", () => {
  test("apply --prune of a page also deletes its monitors and webhooks, which the plan lists", async () => {
    await using app = await createTestApp();
    await apply(app, `{pages: [${LIVE}, ${OLD}], webhooks: [${HOOK("old", SECRET)}]}`);
    const key = await app.keyWith("read:status", "manage:monitors", "manage:webhooks");
    const post = async (path: string, json: object) =>
      (await app.call(`/api/v1${path}`, { key, method: "POST", json })).body;
    const { body } = await app.call("/api/v1/status/old", { key });
    const config = { url: "https://shop.example.com/" };
    const component_ids = [body.components[0].id];
    const byHand = await post("/monitors", { type: "http", name: "Hand", config, component_ids });
    await post("/webhooks", { url: RECEIVER, description: "By hand", page: "old" });
    const file = `{pages: [${LIVE}]}`;
    expect(linesOf(await apply(app, file, true))).toEqual([
      "- page old",
      "~ monitor hand: paused false → true",
      "- webhook by-hand",
      "- monitor nested",
      "- webhook hook",
    ]);
    const read = await app.call(`/api/v1/monitors/${byHand.id}`, { key });
    expect(read.body).toMatchObject({ paused: true, component_ids: [] });
    expect((await app.call("/api/v1/webhooks", { key })).body.data).toEqual([]);
    expect(linesOf(await apply(app, file, true))).toEqual([]);
  });

  test("apply --prune deletes hand-made objects under a previous ref that the file dropped", async () => {
    await using app = await createTestApp();
    await apply(app, `{pages: [${LIVE}, ${OLD}]}`);
    const key = await app.keyWith("read:status", "manage:monitors", "manage:webhooks");
    const call = async (method: string, path: string, json?: object) =>
      (await app.call(`/api/v1${path}`, { key, method, ...(json ? { json } : {}) })).body;
    const { components } = await call("GET", "/status/old");
    const engineSite = { type: "tcp", config: { host: "b.example.com", port: 80 } };
    const component_ids = [components[0].id];
    for (const name of ["First", "Second"]) {
      await call("POST", "/monitors", { ...engineSite, name, component_ids });
      await call("POST", "/webhooks", { url: RECEIVER, description: name, page: "old" });
    }
    const MONITOR = MOVED("live/shop").replace("Moved", "Second, previous_refs: [first]");
    const WEBHOOK = HOOK("live", "previous_refs: [first]").replace("hook,", "second,");
    const file = `{pages: [${LIVE}], monitors: [${MONITOR}], webhooks: [${WEBHOOK}]}`;
    const lines = linesOf(await apply(app, file, true));
    expect(lines).toContain("~ monitor first: paused false → true");
    expect(lines).toContain("- webhook first");
    const monitors = (await call("GET", "/monitors")).data;
    expect(monitors.map(({ ref, paused }: never) => [ref, paused])).toEqual([
      ["second", false],
      ["first", true],
    ]);
    const webhooks = (await call("GET", "/webhooks")).data;
    expect(webhooks.map(({ ref, page }: never) => [ref, page])).toEqual([["second", "live"]]);
  });

  test("apply --prune keeps a monitor and a webhook with their secrets if the file moves them to another page", async () => {
    await using app = await createTestApp();
    await apply(
      app,
      `{pages: [${LIVE}, ${OLD}], monitors: [${MOVED("old/mirror")}], webhooks: [${HOOK("old", SECRET)}]}`,
    );
    const key = await app.keyWith("manage:monitors", "manage:webhooks");
    const list = async (path: string) => (await app.call(`/api/v1${path}`, { key })).body.data;
    const [webhook] = await list("/webhooks");
    const [moved] = await list("/monitors");
    const file = `{pages: [${LIVE}], monitors: [${MOVED("live/shop")}], webhooks: [${HOOK("live")}]}`;
    const lines = linesOf(await apply(app, file, true));
    expect(lines).toContain("- page old");
    expect(lines.filter((line) => line.includes("webhook"))).toEqual([
      `~ webhook hook: page "${webhook.page_id}" → "live"`,
    ]);
    expect(lines.filter((line) => line.includes("moved"))).toEqual([
      '~ monitor moved: components [] → ["live/shop"]',
    ]);
    expect((await list("/webhooks"))[0]).toMatchObject({ id: webhook.id, page: "live" });
    expect((await list("/monitors"))[0]).toMatchObject({ id: moved.id, paused: false });
    expect(app.audit().some(({ action }) => action === "monitor.pause")).toBe(false);
    expect(linesOf(await apply(app, file, true))).toEqual([]);
  });
});
