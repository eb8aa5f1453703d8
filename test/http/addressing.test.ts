import { describe, expect, test } from "bun:test";
import { deletePage } from "../../src/features/pages/deletion";
import { CLI_ACTOR } from "../../src/base/actor";
import { type Answer, createTestApp, expectProblem, type TestApp } from "../support/app";
import { createMonitorApi } from "../support/monitor-api";
import { updatePage } from "../support/examined";

const SCOPES = [
  "read:status",
  "read:analytics",
  "write:incidents",
  "write:components",
  "write:maintenance",
  "manage:monitors",
  "manage:webhooks",
] as const;

const PLAN = {
  page: "acme",
  name: "Upgrade",
  body: "A minute without search.",
  scheduled_for: "2026-03-10T14:00:00Z",
  scheduled_until: "2026-03-10T15:00:00Z",
};
const INCIDENT = { page: "acme", name: "Errors", body: "We look into it." };
const PUSH = { type: "push", name: "Nightly backup" };

interface Site extends AsyncDisposable {
  app: TestApp;
  pageId: string;
  /** Ids of the components, whose refs are `api` and `website`. */
  api: string;
  website: string;
  send(method: string, path: string, json?: unknown): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

async function createSite(): Promise<Site> {
  const app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } });
  const { page, components } = await app.page();
  const key = await app.keyWith(...SCOPES);
  const send: Site["send"] = (method, path, json) =>
    app.call(path, { method, key, ...(json === undefined ? {} : { json }) });
  return {
    app,
    pageId: page.id,
    api: components["API"] ?? "",
    website: components["Website"] ?? "",
    send: (method, path, json) => send(method, `/api/v1${path}`, json),
    get: (path) => send("GET", `/api/v1${path}`),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe("a component in a path", () => {
  test.each(["api", "acme", "acme/api", "acme:nothing", "nothing:api", ":api", "cmp_0"])(
    "the 404 of %s says in which forms a component is named",
    async (reference) => {
      await using site = await createSite();
      const path = `/components/${encodeURIComponent(reference)}`;
      for (const answer of [
        await site.send("PATCH", path, { status: "operational" }),
        await site.get(path),
        await site.get(`${path}/history`),
      ]) {
        expect(expectProblem(answer, "not_found").detail).toContain("by `<page slug>:<ref>`");
      }
    },
  );
});

/** Expects `validation_failed` with one wrong field, and returns what is wrong with it. */
function faultOf(answer: Answer): [string, string] {
  const { errors } = expectProblem(answer, "validation_failed");
  expect(errors).toHaveLength(1);
  return [errors[0].pointer, errors[0].detail];
}

describe("a component's page slug and ref", () => {
  test("a component's page slug and ref identify it in a path, also percent-encoded", async () => {
    await using site = await createSite();
    const { body } = await site.get(`/components/${site.api}`);
    expect(body.ref).toBe("api");
    for (const address of ["acme:api", "acme%3Aapi"]) {
      const answer = await site.get(`/components/${address}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(body);
    }
    const changed = await site.send("PATCH", "/components/acme:api", { status: "major_outage" });
    expect(changed.body).toMatchObject({ id: site.api, status: "major_outage" });
    const history = await site.get("/components/acme:api/history");
    expect(history.body.data).toMatchObject([{ component: site.api, to: "major_outage" }]);
    const badge = (reference: string) => site.app.call(`/status/acme/badge/${reference}.svg`);
    expect((await badge("acme:api")).text).toBe((await badge(site.api)).text);
    expect((await badge("acme:nothing")).status).toBe(404);
  });

  test("a component's page slug and ref identify it in the keys of a map", async () => {
    await using site = await createSite();
    const statuses = { "acme:website": "partial_outage", [site.api]: "major_outage" };
    const several = await site.send("PATCH", "/components", { components: statuses });
    expect(several.body.data).toMatchObject([
      { id: site.website, status: "partial_outage" },
      { id: site.api, status: "major_outage" },
    ]);
    const opened = await site.send("POST", "/incidents", {
      ...INCIDENT,
      components: { "acme:api": "degraded_performance" },
    });
    expect(opened.body.components).toMatchObject([{ id: site.api, name: "API" }]);
    const update = await site.send("POST", `/incidents/${opened.body.id}/updates`, {
      body: "More.",
      components: { "acme:website": "major_outage" },
    });
    expect(update.body.components).toMatchObject([{ id: site.website }]);
  });

  test("a component's page slug and ref identify it in lists of maintenance and monitors", async () => {
    await using site = await createSite();
    const plan = { ...PLAN, components: ["acme:api"] };
    const planned = await site.send("POST", "/maintenance", plan);
    expect(planned.body.components).toEqual([{ id: site.api, name: "API" }]);
    const both = ["acme:website", site.api];
    const replanned = await site.send("PATCH", `/maintenance/${planned.body.id}`, {
      components: both,
    });
    expect(replanned.body.components).toHaveLength(2);
    const monitor = { ...PUSH, component_ids: ["acme:api"] };
    const watched = await site.send("POST", "/monitors", monitor);
    expect(watched.body.component_ids).toEqual([site.api]);
    const same = await site.send("PATCH", `/monitors/${watched.body.id}`, monitorOf("acme:api"));
    expect(same.body.version).toBe(1);
    const other = await site.send("PATCH", `/monitors/${watched.body.id}`, monitorOf(...both));
    expect(other.body.component_ids).toEqual([site.api, site.website]);
  });

  test("a component's page slug and ref filter lists and analytics", async () => {
    await using site = await createSite();
    await site.send("POST", "/incidents", {
      ...INCIDENT,
      components: { "acme:api": "major_outage" },
    });
    await site.send("POST", "/maintenance", { ...PLAN, components: [site.api] });
    await site.send("POST", "/monitors", { ...PUSH, component_ids: [site.api] });
    for (const list of ["incidents", "maintenance", "monitors"]) {
      const byRef = await site.get(`/${list}?component=acme:api`);
      expect([list, byRef.body.data.length]).toEqual([list, 1]);
      expect(byRef.body.data).toEqual((await site.get(`/${list}?component=${site.api}`)).body.data);
      expect((await site.get(`/${list}?component=acme:website`)).body.data).toEqual([]);
    }
    const figures = await site.get("/analytics/uptime?component=acme:api");
    expect(figures.body.data).toEqual(
      (await site.get(`/analytics/uptime?component=${site.api}`)).body.data,
    );
  });

  test("an unknown page slug or ref is 404 in a path, 400 in a query and 422 in a body", async () => {
    await using site = await createSite();
    await site.app.page({ slug: "other", name: "Other" }, ["Shop"]);
    const before = { events: site.app.events(), audit: site.app.audit() };
    for (const unknown of [
      "cmp_00000000000000000000000000",
      "acme:nothing",
      "nowhere:api",
      ":api",
      "acme:",
    ]) {
      expectProblem(await site.get(`/components/${unknown}`), "not_found");
      expectProblem(await site.get(`/components/${unknown}/history`), "not_found");
      const status = { status: "major_outage" };
      expectProblem(await site.send("PATCH", `/components/${unknown}`, status), "not_found");
      for (const list of ["incidents", "maintenance", "monitors", "analytics/uptime"]) {
        const rejected = await site.get(`/${list}?component=${unknown}`);
        expect(expectProblem(rejected, "invalid_request").errors).toEqual([
          {
            pointer: "#/component",
            detail: "must be the id of a component, or its page slug and ref, such as acme:api",
          },
        ]);
        const nowhere = await site.get(`/${list}?page=nowhere`);
        expect(expectProblem(nowhere, "invalid_request").errors).toEqual([
          { pointer: "#/page", detail: "is not the slug or id of a page" },
        ]);
      }
      const map = { components: { [unknown]: "major_outage" } };
      const inMap = [`#/components/${unknown}`, "is not a component"];
      expect(faultOf(await site.send("PATCH", "/components", map))).toEqual(inMap as never);
      const incident = await site.send("POST", "/incidents", { ...INCIDENT, ...map });
      expect(faultOf(incident)).toEqual(inMap as never);
      const plan = { ...PLAN, components: [unknown] };
      expect(faultOf(await site.send("POST", "/maintenance", plan))).toEqual([
        "#/components/0",
        "is not a component of the page",
      ]);
      const monitor = { ...PUSH, component_ids: [unknown] };
      expect(faultOf(await site.send("POST", "/monitors", monitor))).toEqual([
        "#/component_ids/0",
        "is not a component",
      ]);
    }
    const elsewhere = { ...INCIDENT, components: { "other:shop": "major_outage" } };
    expect(faultOf(await site.send("POST", "/incidents", elsewhere))).toEqual([
      "#/components/other:shop",
      "is a component of another page",
    ]);
    expect({ events: site.app.events(), audit: site.app.audit() }).toEqual(before);
  });

  test("a component named by ref and by id is rejected as a duplicate with the second one's pointer", async () => {
    await using site = await createSite();
    const map = { components: { [site.api]: "major_outage", "acme:api": "operational" } };
    const twice = ["#/components/acme:api", "names the same component twice"];
    expect(faultOf(await site.send("PATCH", "/components", map))).toEqual(twice as never);
    const incident = await site.send("POST", "/incidents", { ...INCIDENT, ...map });
    expect(faultOf(incident)).toEqual(twice as never);
    const plan = { ...PLAN, components: [site.api, "acme:api"] };
    expect(faultOf(await site.send("POST", "/maintenance", plan))[0]).toBe("#/components/1");
    const monitor = { ...PUSH, component_ids: ["acme:api", site.api] };
    expect(faultOf(await site.send("POST", "/monitors", monitor))[0]).toBe("#/component_ids/1");
  });

  test("a component is found by an old slug of its page until the page is deleted", async () => {
    await using site = await createSite();
    const { ctx } = site.app;
    await ctx.db.write((tx) => updatePage(ctx, tx, site.pageId, { slug: "fresh" }, CLI_ACTOR));
    for (const address of ["acme:api", "fresh:api"]) {
      expect((await site.get(`/components/${address}`)).body.id).toBe(site.api);
    }
    await ctx.db.write((tx) => deletePage(ctx, tx, site.pageId, CLI_ACTOR));
    expectProblem(await site.get("/components/acme:api"), "not_found");
    expectProblem(await site.get("/components/fresh:api"), "not_found");
  });
});

const monitorOf = (...componentIds: string[]) => ({ component_ids: componentIds });

describe("a monitor's ref", () => {
  test("a monitor's ref identifies it wherever its id does", async () => {
    await using api = await createMonitorApi();
    const { id, ref } = await api.create({ name: "Shop front" });
    expect(ref).toBe("shop-front");
    const post = { method: "POST" };
    expect((await api.call("/shop-front")).body.id).toBe(id);
    expect((await api.patch("shop-front", { name: "Front" })).body.id).toBe(id);
    expect((await api.call("/shop-front/check", post)).status).toBe(200);
    expect((await api.call("/shop-front/checks")).body.data).toHaveLength(1);
    expect((await api.call("/shop-front/pause", post)).body).toMatchObject({ id, paused: true });
    expect((await api.call("/shop-front/resume", post)).body).toMatchObject({ id, paused: false });
    expect(
      api.app
        .audit()
        .filter(({ action }) => action.startsWith("monitor."))
        .map((row) => row.targetId),
    ).toEqual([id, id, id, id]);
    const analyst = await api.app.keyWith("read:analytics");
    const figures = (monitor: string) =>
      api.app.call(`/api/v1/analytics/uptime?monitor=${monitor}`, { key: analyst });
    expect((await figures("shop-front")).body.data).toEqual((await figures(id)).body.data);
    expectProblem(await figures("nothing"), "invalid_request");
    expectProblem(await api.call("/nothing"), "not_found");
    const push = await api.create({ type: "push", name: "Job", config: {} });
    expect((await api.call("/job/rotate-token", post)).body.id).toBe(push.id);
    expect((await api.call("/shop-front", { method: "DELETE" })).status).toBe(204);
    expectProblem(await api.call("/shop-front"), "not_found");
    expectProblem(await api.call(`/${id}`), "not_found");
  });
});

describe("a webhook's ref", () => {
  test("a webhook's ref identifies it wherever its id does", async () => {
    await using site = await createSite();
    const hook = { url: "https://example.com/hook", description: "Our chat" };
    const { id, ref } = (await site.send("POST", "/webhooks", hook)).body;
    expect(ref).toBe("our-chat");
    const path = "/webhooks/our-chat";
    expect((await site.get(path)).body.id).toBe(id);
    const renamed = await site.send("PATCH", path, { description: "Chat" });
    expect(renamed.body).toMatchObject({ id, description: "Chat" });
    expect((await site.send("POST", `${path}/rotate-secret`)).body.id).toBe(id);
    const delivery = (await site.send("POST", `${path}/test`)).body;
    expect((await site.get(`${path}/deliveries`)).body.data).toHaveLength(1);
    const one = `${path}/deliveries/${delivery.id}`;
    expect((await site.get(one)).body.id).toBe(delivery.id);
    expect((await site.send("POST", `${one}/redeliver`)).status).toBeOneOf([200, 409]);
    expect((await site.send("DELETE", path)).status).toBe(204);
    expectProblem(await site.get(path), "not_found");
    expectProblem(await site.get(`/webhooks/${id}`), "not_found");
    const targets = site.app.audit().filter(({ action }) => action.startsWith("webhook."));
    expect(new Set(targets.map(({ targetId }) => targetId))).toEqual(new Set([id]));
  });
});
