import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { createTestApp, expectProblem } from "../support/app";
import { SCOPE_NAMES } from "../../src/features/keys/scopes";

describe("a declared query parameter that is given twice", () => {
  test("a repeated query parameter is rejected by every route that declares it, with its pointer", async () => {
    await using app = await createTestApp({
      dashboard: true,
      env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" },
    });
    await app.page();
    const key = await app.keyWith(...SCOPE_NAMES);
    let count = 0;
    for (const { method, path, query, operation } of app.app.routes.routes) {
      const [name] = Object.keys((query as TSchema | undefined)?.["properties"] ?? {});
      if (name === undefined || operation.access.kind === "session") continue;
      const url = `${path.replaceAll(/:[\w.]+/g, "acme")}?${name}=1&${name}=1`;
      const credentials = operation.access.kind === "key" ? { key } : {};
      const answer = await app.call(url, {
        method,
        ...credentials,
        from: `192.0.2.${count % 250}`,
      });
      // A wrong heartbeat token is rejected before the query is read.
      if (operation.access.kind === "heartbeat") continue;
      expect({ path, status: answer.status }).toEqual({ path, status: 400 });
      if (answer.body !== undefined) {
        expect(expectProblem(answer, "invalid_request").errors).toEqual([
          { pointer: `#/${name}`, detail: "is given more than once" },
        ]);
      }
      count += 1;
    }
    expect(count).toBeGreaterThan(10);
  });

  test("a repeated query parameter is rejected with equal or empty values, and accepted once", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    for (const query of [
      "limit=1&limit=2",
      "limit=1&limit=1",
      "limit=&limit=1",
      "li%6Dit=1&limit=2",
    ]) {
      expectProblem(await app.call(`/api/v1/incidents?${query}`, { key }), "invalid_request");
    }
    expect((await app.call("/api/v1/incidents?limit=1&open=true", { key })).status).toBe(200);
  });

  test("a repeated query parameter is rejected after the check of credentials", async () => {
    await using app = await createTestApp();
    const other = await app.keyWith("read:analytics");
    const path = "/api/v1/incidents?limit=1&limit=2";
    expectProblem(await app.call(path), "missing_key");
    expectProblem(await app.call(path, { key: other }), "insufficient_scope");
  });
});

test("an undeclared query parameter of a public page is ignored, even if repeated", async () => {
  await using app = await createTestApp();
  await app.page();
  expect((await app.call("/status/acme?utm_source=a&utm_source=b")).status).toBe(200);
  expect((await app.call("/status/acme/summary.json?v=1&v=2")).status).toBe(200);
});
