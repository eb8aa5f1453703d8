import { describe, expect, test } from "bun:test";
import { createTestApp, expectProblem, versionOf } from "../../support/app";

const UNKNOWN = "cmp_00000000000000000000000000";

describe("PATCH /api/v1/components/{id}", () => {
  test("PATCH of a component sets its status, records one event and the actor", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API"]);
    const { key, value } = await app.createKey({ name: "deploys", scopes: ["write:components"] });
    const answer = await app.call(`/api/v1/components/${components.API}`, {
      method: "PATCH",
      key: value,
      json: { status: "partial_outage", reason: "Deploy 42" },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      id: components.API,
      page: "acme",
      status: "partial_outage",
      baseline_status: "partial_outage",
      causes: [{ source: "api", id: key.id, status: "partial_outage" }],
      version: 2,
    });
    expect(versionOf(answer)).toBe(2);
    expect(app.events()).toMatchObject([
      {
        type: "component.status_changed",
        subjectId: components.API,
        data: { status: "partial_outage", old_status: "operational", page: "acme" },
      },
    ]);

    const reader = await app.keyWith("read:status");
    const history = await app.call(`/api/v1/components/${components.API}/history`, { key: reader });
    expect(history.body.data).toEqual([
      {
        component: components.API,
        from: "operational",
        to: "partial_outage",
        source: "api",
        reason: "Deploy 42",
        actor: { kind: "key", id: key.id, label: "deploys" },
        at: "2026-03-10T12:00:00.000Z",
      },
    ]);
  });

  test("setting a component's current status again changes nothing and records no event", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API"]);
    const key = await app.keyWith("write:components");
    const again = { method: "PATCH", key, json: { status: "operational" } };
    const answer = await app.call(`/api/v1/components/${components.API}`, again);
    expect(answer.body.version).toBe(1);
    expect(app.events()).toEqual([]);
  });

  test("a component set back to operational has no causes", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API"]);
    const key = await app.keyWith("write:components");
    const path = `/api/v1/components/${components.API}`;
    await app.call(path, { method: "PATCH", key, json: { status: "major_outage" } });
    const answer = await app.call(path, { method: "PATCH", key, json: { status: "operational" } });
    expect(answer.body).toMatchObject({ status: "operational", causes: [], version: 3 });
  });

  test("the status document shows a changed status at the next read", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API", "Web"]);
    const key = await app.keyWith("read:status", "write:components");
    const before = await app.call("/api/v1/status/acme", { key });
    await app.clock.advance(1_000);
    await app.call(`/api/v1/components/${components.API}`, {
      method: "PATCH",
      key,
      json: { status: "major_outage" },
    });
    const after = await app.call("/api/v1/status/acme", { key });
    expect(after.body.status).toEqual({ indicator: "major", description: "Partial System Outage" });
    expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
    expect(after.body.updated_at).toBe("2026-03-10T12:00:01.000Z");
  });

  test.each([
    [{ status: "broken" }, ["#/status"]],
    [{}, ["#/status"]],
    [{ status: null }, ["#/status"]],
    [{ status: "operational", reason: "x".repeat(1_001) }, ["#/reason"]],
    [{ status: "operational", state: "up", note: 1 }, ["#/state", "#/note"]],
    [{ status: 5, reason: 5, extra: 5 }, ["#/extra", "#/status", "#/reason"]],
    [[], ["#"]],
    [null, ["#"]],
  ])(
    "PATCH of a component with the body %j is rejected with all fields at fault, and nothing is written",
    async (json, pointers) => {
      await using app = await createTestApp();
      const { components } = await app.page({}, ["API"]);
      const key = await app.keyWith("write:components");
      const path = `/api/v1/components/${components.API}`;
      const problem = expectProblem(
        await app.call(path, { method: "PATCH", key, json }),
        "validation_failed",
      );
      const named = problem.errors.map((error: { pointer: string }) => error.pointer);
      expect(named.toSorted()).toEqual(pointers.toSorted());
      expect(app.events()).toEqual([]);
    },
  );

  test("PATCH of an unknown component is not_found", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("write:components");
    const call = { method: "PATCH", key, json: { status: "operational" } };
    expectProblem(await app.call(`/api/v1/components/${UNKNOWN}`, call), "not_found");
  });
});

describe("If-Match on PATCH /api/v1/components/{id}", () => {
  test("a change with the current version in If-Match succeeds once and is then precondition_failed", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API"]);
    const key = await app.keyWith("write:components");
    const path = `/api/v1/components/${components.API}`;
    const change = (status: string) => ({
      method: "PATCH",
      key,
      json: { status },
      headers: { "if-match": '"1"' },
    });
    expect((await app.call(path, change("major_outage"))).status).toBe(200);
    expectProblem(await app.call(path, change("operational")), "precondition_failed");
    expect(app.events()).toHaveLength(1);
  });

  test("one of three concurrent changes with the same If-Match succeeds", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API"]);
    const key = await app.keyWith("write:components");
    const statuses = ["major_outage", "partial_outage", "degraded_performance"];
    const answers = await Promise.all(
      statuses.map((status) =>
        app.call(`/api/v1/components/${components.API}`, {
          method: "PATCH",
          key,
          json: { status },
          headers: { "if-match": '"1"' },
        }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual([200, 412, 412]);
  });
});

describe("PATCH /api/v1/components", () => {
  test("PATCH /api/v1/components sets several statuses and records an event for each", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API", "Web", "Jobs"]);
    const key = await app.keyWith("write:components");
    const answer = await app.call("/api/v1/components", {
      method: "PATCH",
      key,
      json: {
        components: {
          [components.API as string]: "major_outage",
          [components.Jobs as string]: "degraded_performance",
        },
        reason: "Power",
      },
    });
    expect(answer.body.data).toMatchObject([
      { id: components.API, status: "major_outage" },
      { id: components.Jobs, status: "degraded_performance" },
    ]);
    expect(app.events().map((event) => event.subjectId)).toEqual([
      components.API as string,
      components.Jobs as string,
    ]);
  });

  test("PATCH /api/v1/components rejects a version in If-Match and accepts *", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API"]);
    const key = await app.keyWith("write:components");
    const change = (ifMatch: string) => ({
      method: "PATCH",
      key,
      json: { components: { [components.API as string]: "major_outage" } },
      headers: { "if-match": ifMatch },
    });
    expectProblem(await app.call("/api/v1/components", change('"1"')), "precondition_failed");
    expect(app.events()).toEqual([]);
    expect((await app.call("/api/v1/components", change("*"))).status).toBe(200);
  });

  test("PATCH /api/v1/components with an unknown id changes no component", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API"]);
    const key = await app.keyWith("write:components", "read:status");
    const json = {
      components: { [components.API as string]: "major_outage", [UNKNOWN]: "operational" },
    };
    const problem = expectProblem(
      await app.call("/api/v1/components", { method: "PATCH", key, json }),
      "validation_failed",
    );
    expect(problem.errors).toEqual([
      { pointer: `#/components/${UNKNOWN}`, detail: "is not a component" },
    ]);
    const unchanged = await app.call(`/api/v1/components/${components.API}`, { key });
    expect(unchanged.body).toMatchObject({ status: "operational", version: 1 });
    expect(app.events()).toEqual([]);
  });

  test.each([
    [{ components: {} }, "#/components"],
    [{ components: { __proto__x: "up" } }, "#/components/__proto__x"],
    [{ components: [] }, "#/components"],
    [{}, "#/components"],
  ])("PATCH /api/v1/components with the body %j is rejected at %s", async (json, pointer) => {
    await using app = await createTestApp();
    const key = await app.keyWith("write:components");
    const problem = expectProblem(
      await app.call("/api/v1/components", { method: "PATCH", key, json }),
      "validation_failed",
    );
    expect(problem.errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer]);
  });
});
