import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { type Answer, createTestApp, type TestApp, type TestPage } from "../support/app";
import { createIncidentSite } from "../support/incident-site";
import { createMonitorApi } from "../support/monitor-api";
import { withoutMail } from "../support/written-mail";
import { updateComponent, updatePage } from "../support/examined";

const SCOPES = [
  "read:status",
  "write:incidents",
  "write:components",
  "write:maintenance",
  "manage:monitors",
  "manage:webhooks",
] as const;

const bodiesFor = ({ components }: TestPage) => ({
  incidents: { page: "acme", name: "Errors", body: "We look into it." },
  maintenance: {
    page: "acme",
    name: "Upgrade",
    body: "A minute without search.",
    scheduled_for: "2026-03-10T14:00:00Z",
    scheduled_until: "2026-03-10T15:00:00Z",
    components: [components["API"]],
  },
  webhooks: { url: "https://example.com/hook", page: "acme" },
});

interface Site extends AsyncDisposable {
  app: TestApp;
  page: TestPage;
  /** Request bodies that create a resource of each kind. */
  bodies: ReturnType<typeof bodiesFor>;
  key: string;
  get(path: string, known?: string): Promise<Answer>;
  /** Makes a resource and answers its path. */
  make(path: string, json: object): Promise<string>;
  renamePage(): Promise<unknown>;
}

async function createSite(): Promise<Site> {
  const app = await createTestApp();
  const page = await app.page();
  const key = await app.keyWith(...SCOPES);
  return {
    app,
    page,
    bodies: bodiesFor(page),
    key,
    get: (path, known) =>
      app.call(path, { key, headers: known === undefined ? {} : { "if-none-match": known } }),
    async make(path, json) {
      const { status, headers } = await app.call(path, { method: "POST", key, json });
      expect(status).toBe(201);
      return (headers.get("location") ?? "").replace("https://status.test", "");
    },
    renamePage: () =>
      app.ctx.db.write((tx) =>
        updatePage(app.ctx, tx, page.page.id, { slug: "acme-2" }, CLI_ACTOR),
      ),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const tagOf = ({ headers }: Answer) => headers.get("etag") ?? "";

/** Expects that a change leaves the version as it is, and that If-None-Match notices it all the same. */
async function expectNews(site: Site, path: string, change: () => Promise<unknown>): Promise<void> {
  const before = await site.get(path);
  expect((await site.get(path, tagOf(before))).status).toBe(304);
  await change();
  const after = await site.get(path, tagOf(before));
  expect([path, after.status]).toEqual([path, 200]);
  expect(after.body).not.toEqual(before.body);
  expect(after.body.version).toBe(before.body.version);
  expect((await site.get(path, tagOf(after))).status).toBe(304);
}

describe("the entity tag of a resource", () => {
  test.each(["incidents", "maintenance", "webhooks"] as const)(
    "the entity tag of %s changes with the page's slug",
    async (kind) => {
      await using site = await createSite();
      const path = await site.make(`/api/v1/${kind}`, site.bodies[kind]);
      await expectNews(site, path, site.renamePage);
    },
  );

  test("the entity tag of a component changes with the page's slug", async () => {
    await using site = await createSite();
    const path = `/api/v1/components/${site.page.components["API"]}`;
    await expectNews(site, path, site.renamePage);
  });

  test("the entity tag of a maintenance changes with the order of its components", async () => {
    await using site = await createSite();
    const { API: api = "", Website: web = "" } = site.page.components;
    const plan = { ...site.bodies.maintenance, components: [api, web] };
    const path = await site.make("/api/v1/maintenance", plan);
    const { app } = site;
    await expectNews(site, path, () =>
      app.ctx.db.write((tx) => updateComponent(app.ctx, tx, web, {}, CLI_ACTOR, { position: -1 })),
    );
  });

  test("the entity tag of a monitor changes with a result, and If-Match still accepts its version", async () => {
    await using api = await createMonitorApi();
    const { id, version } = await api.create();
    const before = await api.call(`/${id}`);
    const headers = { "if-none-match": tagOf(before) };
    expect((await api.call(`/${id}`, { headers })).status).toBe(304);
    await api.call(`/${id}/check`, { method: "POST" });
    const after = await api.call(`/${id}`, { headers });
    expect(after.body).toMatchObject({ version, last_check: { outcome: "ok", latency_ms: 12 } });
    const change = { "if-match": tagOf(before) };
    expect((await api.patch(id, { name: "Front" }, change)).status).toBe(200);
    expect((await api.patch(id, { name: "Back" }, change)).status).toBe(412);
  });

  test("the entity tag of an incident differs for keys that cannot read its unpublished post-mortem", async () => {
    await using site = await createSite();
    const path = await site.make("/api/v1/incidents", site.bodies.incidents);
    const json = { body: "A disk was full." };
    await site.app.call(`${path}/postmortem`, { method: "PUT", key: site.key, json });
    const seen = await site.get(path);
    const reader = await site.app.keyWith("read:status");
    const unseen = await site.app.call(path, {
      key: reader,
      headers: { "if-none-match": tagOf(seen) },
    });
    expect(unseen.status).toBe(200);
    expect(unseen.body.postmortem).toBeNull();
  });

  test("the entity tag of an update is its version only", async () => {
    await using site = await createSite();
    for (const kind of ["incidents", "maintenance"] as const) {
      const path = await site.make(`/api/v1/${kind}`, site.bodies[kind]);
      const update = await site.make(`${path}/updates`, { body: "More." });
      const answer = await site.get(update);
      expect(tagOf(answer)).toBe('"2"');
      await site.renamePage();
      expect((await site.get(update, '"2"')).status).toBe(304);
    }
  });

  test("the entity tag is the same after a creation or change and when read", async () => {
    await using site = await createSite();
    for (const kind of ["incidents", "maintenance"] as const) {
      const made = await site.app.call(`/api/v1/${kind}`, {
        method: "POST",
        key: site.key,
        json: site.bodies[kind],
      });
      const path = `/api/v1/${kind}/${made.body.id}`;
      expect(tagOf(made)).toBe(tagOf(await site.get(path)));
      const changed = await site.app.call(path, {
        method: "PATCH",
        key: site.key,
        json: { name: "Another name" },
        headers: { "if-match": tagOf(made) },
      });
      expect(changed.status).toBe(200);
      expect(tagOf(changed)).toBe(tagOf(await site.get(path)));
    }
  });

  test("a change with an entity tag from before its page was renamed succeeds", async () => {
    await using site = await createSite();
    const path = await site.make("/api/v1/incidents", site.bodies.incidents);
    const known = tagOf(await site.get(path));
    await site.renamePage();
    const change = { method: "PATCH", key: site.key, headers: { "if-match": known } };
    expect((await site.app.call(path, { ...change, json: { name: "One" } })).status).toBe(200);
    expect((await site.app.call(path, { ...change, json: { name: "Two" } })).status).toBe(412);
  });
});

test("an incident and an update that name components have the same ETag when created and when read, and the same answer but for mail", async () => {
  await using site = await createIncidentSite();
  const [low = "", high = ""] = [site.api, site.web].toSorted();
  const read = async (path: string) =>
    site.app.call(`/api/v1/incidents/${path}`, { key: site.key });
  const components = { [high]: "major_outage", [low]: "partial_outage" };
  const incident = await site.post({ components });
  const path: string = incident.body.id;
  expect(await read(path)).toMatchObject({ status: 200, body: withoutMail(incident.body) });
  expect((await read(path)).headers.get("etag")).toBe(incident.headers.get("etag"));
  const update = await site.update(path, {
    components: { [high]: "operational", [low]: "degraded_performance" },
  });
  const updatePath = `${path}/updates/${update.body.id}`;
  expect(await read(updatePath)).toMatchObject({ status: 200, body: withoutMail(update.body) });
  expect((await read(updatePath)).headers.get("etag")).toBe(update.headers.get("etag"));
});
