import { describe, expect, test } from "bun:test";
import { SCOPE_NAMES } from "../../src/features/keys/scopes";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { createMaintenanceDashboard } from "../support/maintenance-dashboard";

interface Site extends AsyncDisposable {
  app: TestApp;
  key: string;
  api: string;
  /** Sends a body and answers what is wrong with it, by the JSON pointer. */
  errorsFor(method: string, path: string, json: unknown): Promise<Record<string, string>>;
  create(path: string, json: unknown): Promise<string>;
}

async function createSite(): Promise<Site> {
  const app = await createTestApp();
  const { components } = await app.page();
  const key = await app.keyWith(...SCOPE_NAMES);
  const call = (method: string, path: string, json: unknown) =>
    app.call(`/api/v1${path}`, { method, key, json });
  return {
    app,
    key,
    api: components["API"] ?? "",
    async errorsFor(method, path, json) {
      const problem = expectProblem(await call(method, path, json), "validation_failed");
      const errors = problem.errors as { pointer: string; detail: string }[];
      const byPointer = Object.fromEntries(errors.map(({ pointer, detail }) => [pointer, detail]));
      expect(Object.keys(byPointer)).toHaveLength(errors.length);
      return byPointer;
    },
    async create(path, json) {
      const answer = await call("POST", path, json);
      expect(answer.status).toBe(201);
      return answer.body.id as string;
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const INCIDENT = { page: "acme", name: "Down", body: "It is down." };
const MAINTENANCE = {
  page: "acme",
  name: "Upgrade",
  body: "A minute.",
  components: [],
  scheduled_for: "2030-01-01T00:00:00Z",
  scheduled_until: "2030-01-01T01:00:00Z",
};
const FAR = "2090-01-01T00:00:00Z";

describe("answers that name every invalid field", () => {
  test("POST /incidents names every invalid field, unknown references included", async () => {
    await using site = await createSite();
    const errors = await site.errorsFor("POST", "/incidents", {
      page: "nowhere",
      name: "",
      components: { cmp_none: "operational", cmp_other: "broken", [site.api]: "major_outage" },
      started_at: FAR,
      colour: "red",
    });
    expect(errors).toEqual({
      "#/page": "is not the slug or id of a page",
      "#/name": "is empty",
      "#/body": "is required",
      "#/components/cmp_none": "is not a component",
      "#/components/cmp_other": expect.stringContaining("must be one of"),
      "#/started_at": "is in the future",
      "#/colour": "is not a known field",
    });
    expect(site.app.events()).toEqual([]);
    await site.create("/incidents", { ...INCIDENT, components: { [site.api]: "major_outage" } });
  });

  test("POST /incidents with a resolved_at for an open incident names that field and all other invalid ones", async () => {
    await using site = await createSite();
    const past = new Date(site.app.clock.now() - 60_000).toISOString();
    const body = { ...INCIDENT, status: "investigating", resolved_at: past };
    const detail = "is only for a resolved incident, but the status is investigating";
    expect(await site.errorsFor("POST", "/incidents", body)).toEqual({ "#/resolved_at": detail });
    expect(await site.errorsFor("POST", "/incidents", { ...body, colour: 1 })).toEqual({
      "#/colour": expect.any(String),
      "#/resolved_at": detail,
    });
    await site.create("/incidents", { ...body, status: "resolved" });
  });

  test("PATCH /incidents/{id} names every invalid field", async () => {
    await using site = await createSite();
    const id = await site.create("/incidents", INCIDENT);
    const path = `/incidents/${id}`;
    expect(await site.errorsFor("PATCH", path, { name: "", started_at: FAR })).toEqual({
      "#/name": expect.any(String),
      "#/started_at": "is in the future",
    });
    const early = "2020-01-01T00:00:00Z";
    expect(await site.errorsFor("PATCH", path, { colour: 1, identified_at: early })).toEqual({
      "#/colour": expect.any(String),
      "#/identified_at": "is before the incident started",
    });
    const json = { name: "Up", started_at: early };
    const changed = await site.app.call(`/api/v1${path}`, { method: "PATCH", key: site.key, json });
    expect(changed.status).toBe(200);
  });

  test("PATCH /incidents/{id}/updates/{update_id} names every invalid field", async () => {
    await using site = await createSite();
    const id = await site.create("/incidents", INCIDENT);
    const update = await site.create(`/incidents/${id}/updates`, { body: "More." });
    const path = `/incidents/${id}/updates/${update}`;
    expect(await site.errorsFor("PATCH", path, { body: "", display_at: FAR })).toEqual({
      "#/body": expect.any(String),
      "#/display_at": "is in the future",
    });
    const early = "2020-01-01T00:00:00Z";
    expect(await site.errorsFor("PATCH", path, { body: "", display_at: early })).toEqual({
      "#/body": expect.any(String),
      "#/display_at": "is before the incident started",
    });
    const json = { body: "Less." };
    const changed = await site.app.call(`/api/v1${path}`, { method: "PATCH", key: site.key, json });
    expect(changed.status).toBe(200);
  });

  test("POST /incidents/{id}/updates names every invalid field, unknown references included", async () => {
    await using site = await createSite();
    const id = await site.create("/incidents", INCIDENT);
    const errors = await site.errorsFor("POST", `/incidents/${id}/updates`, {
      body: "",
      components: { cmp_none: "operational" },
      display_at: "2001-01-01T00:00:00Z",
    });
    expect(errors).toEqual({
      "#/body": "is empty",
      "#/components/cmp_none": "is not a component",
      "#/display_at": "is before the incident started",
    });
    await site.create(`/incidents/${id}/updates`, {
      body: "Still.",
      components: { [site.api]: "operational" },
    });
  });

  test("errors of an update of a draft that the key cannot see do not reveal the draft", async () => {
    await using site = await createSite();
    const id = await site.create("/incidents", { ...INCIDENT, draft: true });
    const key = await site.app.keyWith("write:incidents");
    const answer = await site.app.call(`/api/v1/incidents/${id}/updates`, {
      method: "POST",
      key,
      json: { body: "", components: { cmp_none: "operational" }, display_at: FAR },
    });
    const { errors } = expectProblem(answer, "validation_failed");
    expect(errors).toEqual([{ pointer: "#/body", detail: "is empty" }]);
  });

  test("POST /maintenance names every invalid field, unknown references included", async () => {
    await using site = await createSite();
    expect(
      await site.errorsFor("POST", "/maintenance", { ...MAINTENANCE, page: "nowhere", name: 5 }),
    ).toEqual({ "#/page": "is not the slug or id of a page", "#/name": "must be text" });
    expect(
      await site.errorsFor("POST", "/maintenance", {
        ...MAINTENANCE,
        name: 5,
        components: [site.api, 7, "cmp_none"],
        scheduled_until: "2029-01-01T00:00:00Z",
      }),
    ).toEqual({
      "#/name": "must be text",
      "#/components/1": "must be text",
      "#/components/2": "is not a component of the page",
      "#/scheduled_until": "must be later than the start",
    });
    await site.create("/maintenance", { ...MAINTENANCE, components: [site.api] });
  });

  test("PATCH /maintenance/{id} and POST of its updates name every invalid field", async () => {
    await using site = await createSite();
    const id = await site.create("/maintenance", MAINTENANCE);
    expect(
      await site.errorsFor("PATCH", `/maintenance/${id}`, { components: ["cmp_none"], name: "" }),
    ).toEqual({ "#/components/0": "is not a component of the page", "#/name": "is empty" });
    expect(
      await site.errorsFor("POST", `/maintenance/${id}/updates`, { body: "", display_at: FAR }),
    ).toEqual({ "#/body": "is empty", "#/display_at": "is in the future" });
  });

  test("PATCH /components names every invalid field, unknown references included", async () => {
    await using site = await createSite();
    const errors = await site.errorsFor("PATCH", "/components", {
      components: { cmp_none: "operational", [site.api]: "broken" },
      reason: 5,
    });
    expect(errors).toEqual({
      "#/components/cmp_none": "is not a component",
      [`#/components/${site.api}`]: expect.stringContaining("must be one of"),
      "#/reason": "must be text",
    });
  });

  test("POST and PATCH /monitors name every invalid field, unknown references included", async () => {
    await using site = await createSite();
    const wrong = {
      name: "",
      component_ids: [site.api, "cmp_none"],
      retry_interval_seconds: 90,
    };
    const errors = {
      "#/name": "is empty",
      "#/component_ids/1": "is not a component",
      "#/retry_interval_seconds": "must not be longer than the interval of 60 seconds",
    };
    const config = { url: "ftp://example.com" };
    const scheme = { "#/config/url": "must begin with http:// or https://" };
    expect(await site.errorsFor("POST", "/monitors", { type: "http", ...wrong, config })).toEqual({
      ...errors,
      ...scheme,
    });
    const id = await site.create("/monitors", {
      type: "http",
      name: "Shop",
      config: { url: "https://example.com" },
      paused: true,
    });
    expect(await site.errorsFor("PATCH", `/monitors/${id}`, { ...wrong, config })).toEqual({
      ...errors,
      ...scheme,
    });
    // Without a valid interval, nothing is said of what must not exceed it.
    const { retry_interval_seconds: _, ...others } = await site
      .errorsFor("POST", "/monitors", { type: "push", ...wrong, interval_seconds: 1 })
      .then((all) => ({ retry_interval_seconds: all["#/retry_interval_seconds"], ...all }));
    expect(Object.keys(others).sort()).toEqual([
      "#/component_ids/1",
      "#/interval_seconds",
      "#/name",
    ]);
  });

  test("POST and PATCH /webhooks name every invalid field, unknown references included", async () => {
    await using site = await createSite();
    const wrong = { url: "ftp://example.com", page: "nowhere", events: ["bogus"] };
    const errors = {
      "#/url": "must be a URL that begins with https:// or http://",
      "#/page": "is not the slug or id of a page",
      "#/events/0": expect.stringContaining("must be one of"),
    };
    expect(await site.errorsFor("POST", "/webhooks", { ...wrong, secret: "short" })).toEqual({
      ...errors,
      "#/secret": expect.any(String),
    });
    const id = await site.create("/webhooks", { url: "https://example.com" });
    expect(await site.errorsFor("PATCH", `/webhooks/${id}`, wrong)).toEqual(errors);
  });
});

test("a body that violates its schema is rejected before its resource is looked up", async () => {
  await using site = await createSite();
  for (const path of ["/incidents/inc_none/updates", "/maintenance/mnt_none/updates"]) {
    expect(await site.errorsFor("POST", path, { body: "", display_at: FAR })).toEqual({
      "#/body": "is empty",
    });
  }
  for (const path of ["/monitors/mon_none", "/webhooks/whk_none", "/maintenance/mnt_none"]) {
    expect(await site.errorsFor("PATCH", path, { colour: "red" })).toEqual({
      "#/colour": "is not a known field",
    });
  }
});

describe("a time whose year is out of range", () => {
  const RANGE = "has a year out of range; it must lie in the years 1970 to 9999";

  test.each(["0011-09-02T10:00:00Z", "0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z"])(
    "a time with a year out of range is rejected for its year: %s",
    async (started_at) => {
      await using site = await createSite();
      const body = { ...INCIDENT, started_at };
      expect(await site.errorsFor("POST", "/incidents", body)).toEqual({ "#/started_at": RANGE });
    },
  );

  test.each(["0011-02-30T10:00:00Z", "2026-02-30T10:00:00Z", "2026-09-02T10:00:00", "now"])(
    "an invalid time is rejected as such and not for its year: %s",
    async (started_at) => {
      await using site = await createSite();
      const errors = await site.errorsFor("POST", "/incidents", { ...INCIDENT, started_at });
      expect(errors["#/started_at"]).toStartWith("must be an instant with its zone");
    },
  );

  test("a year out of range has the same error in a query and in the dashboard", async () => {
    await using site = await createSite();
    const { app, key } = site;
    const list = await app.call("/api/v1/incidents?since=0011-09-02T10:00:00Z", { key });
    expect(expectProblem(list, "invalid_request").errors[0].detail).toBe(RANGE);
    await using dashboard = await createMaintenanceDashboard();
    const form = await dashboard.plan({ scheduled_for: "0011-09-02T10:00" });
    expect(form.status).toBe(422);
    expect(form.text).toContain(RANGE);
  });
});

describe("a list whose every entry breaks its schema is counted once:", () => {
  const NUMBERS = Array.from({ length: 300 }, (_, index) => index + 1);

  test("POST /maintenance with 300 numbers as components has 300 wrong fields", async () => {
    await using site = await createSite();
    const json = { ...MAINTENANCE, components: NUMBERS };
    const answer = await site.app.call("/api/v1/maintenance", {
      method: "POST",
      key: site.key,
      json,
    });
    const { detail, errors } = expectProblem(answer, "validation_failed");
    expect(detail).toBe("300 fields are wrong.");
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toEqual({ detail: "200 more fields are wrong" });
  });

  test("unknown components between the numbers are counted too, and the valid one is not", async () => {
    await using site = await createSite();
    const unknown = Array.from({ length: 150 }, (_, index) => `cmp_${index}`);
    const components = [...NUMBERS.slice(0, 149), site.api, ...unknown];
    const answer = await site.app.call("/api/v1/maintenance", {
      method: "POST",
      key: site.key,
      json: { ...MAINTENANCE, components },
    });
    expect(expectProblem(answer, "validation_failed").detail).toBe("299 fields are wrong.");
  });

  test("POST /monitors with 100 component ids that are numbers has 100 wrong fields, and those of config", async () => {
    await using site = await createSite();
    const config = Object.fromEntries(NUMBERS.map((number) => [`field_${number}`, true]));
    const json = { type: "push", name: "Backup", config, component_ids: NUMBERS.slice(0, 100) };
    const answer = await site.app.call("/api/v1/monitors", { method: "POST", key: site.key, json });
    expect(expectProblem(answer, "validation_failed").detail).toBe("400 fields are wrong.");
  });
});
