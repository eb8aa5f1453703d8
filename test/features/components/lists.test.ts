import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { type Answer, createTestApp, expectProblem } from "../../support/app";
import { createComponent } from "../../support/examined";

const namesIn = (answer: Answer): string[] =>
  answer.body.data.map((component: { name: string }) => component.name);

describe("GET /api/v1/components", () => {
  test("GET /api/v1/components lists the components of all pages or of one by slug or id, newest first", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "one" }, ["A", "B"]);
    await app.page({ slug: "two" }, ["C"]);
    const key = await app.keyWith("read:status");
    expect(namesIn(await app.call("/api/v1/components", { key }))).toEqual(["C", "B", "A"]);
    expect(namesIn(await app.call("/api/v1/components?page=one", { key }))).toEqual(["B", "A"]);
    expect(namesIn(await app.call(`/api/v1/components?page=${page.id}`, { key }))).toEqual([
      "B",
      "A",
    ]);
  });

  test("the cursor of GET /api/v1/components skips nothing while components are created", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({}, ["A", "B", "C", "D", "E"]);
    const key = await app.keyWith("read:status");
    const first = await app.call("/api/v1/components?limit=2", { key });
    expect(namesIn(first)).toEqual(["E", "D"]);
    await app.ctx.db.write((tx) => {
      const placement = { position: 9, groupId: null, managedBy: null };
      createComponent(app.ctx, tx, page, { name: "F" }, placement, CLI_ACTOR);
    });
    const next = /<(.+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    expect(next).toStartWith("https://status.test/api/v1/components?limit=2&cursor=");
    const second = await app.call(next.replace("https://status.test", ""), { key });
    expect(namesIn(second)).toEqual(["C", "B"]);
    const third = await app.call(`/api/v1/components?limit=2&cursor=${second.body.next_cursor}`, {
      key,
    });
    expect(namesIn(third)).toEqual(["A"]);
    expect(third.body.next_cursor).toBeNull();
    expect(third.headers.get("link")).toBeNull();
  });

  test.each([
    "page=nobody",
    "limit=0",
    "limit=101",
    "limit=1.5",
    "limit=",
    "limit=abc",
    "cursor=tampered",
    "cursor=eyJhIjoxfQ",
    "colour=red",
  ])("GET /api/v1/components?%s is rejected with a pointer to the parameter", async (query) => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    const problem = expectProblem(
      await app.call(`/api/v1/components?${query}`, { key }),
      "invalid_request",
    );
    expect(problem.errors[0].pointer).toBe(`#/${query.split("=")[0]}`);
  });
});

describe("GET /api/v1/components/{id}/history", () => {
  test("a component's history lists its changes, newest first, in pages", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API"]);
    const key = await app.keyWith("read:status", "write:components");
    const path = `/api/v1/components/${components.API}`;
    for (const status of ["major_outage", "partial_outage", "operational"]) {
      await app.call(path, { method: "PATCH", key, json: { status } });
      await app.clock.advance(60_000);
    }
    const first = await app.call(`${path}/history?limit=2`, { key });
    const rest = await app.call(`${path}/history?limit=2&cursor=${first.body.next_cursor}`, {
      key,
    });
    const steps = [...first.body.data, ...rest.body.data].map(
      (change: { from: string; to: string }) => `${change.from} → ${change.to}`,
    );
    expect(steps).toEqual([
      "partial_outage → operational",
      "major_outage → partial_outage",
      "operational → major_outage",
    ]);
  });

  test("a component's history rejects the cursor of another list", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["A", "B"]);
    const key = await app.keyWith("read:status");
    const list = await app.call("/api/v1/components?limit=1", { key });
    const path = `/api/v1/components/${components.A}/history?cursor=${list.body.next_cursor}`;
    expectProblem(await app.call(path, { key }), "invalid_request");
  });
});
