import { describe, expect, test } from "bun:test";
import { SCOPE_NAMES } from "../../../src/features/keys/scopes";
import { createTestApp, expectProblem } from "../../support/app";

describe("GET /api/v1/key", () => {
  test("GET /api/v1/key returns the public properties of the calling key", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({
      name: "Grafana",
      scopes: ["read:status", "read:analytics"],
      rate_limit: 10,
      expires: "2026-12-31",
    });
    const answer = await app.call("/api/v1/key", { key: value });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: key.id,
      name: "Grafana",
      start: value.slice(0, 13),
      scopes: ["read:status", "read:analytics"],
      rate_limit: 10,
      remaining: 9,
      expires_at: "2027-01-01T00:00:00.000Z",
      last_used_at: null,
      created_at: "2026-03-10T12:00:00.000Z",
    });
    expect(answer.text).not.toContain(value.slice(13));
  });

  test("GET /api/v1/key accepts a live key with any scope", async () => {
    await using app = await createTestApp();
    for (const scope of SCOPE_NAMES) {
      const answer = await app.call("/api/v1/key", { key: await app.keyWith(scope) });
      expect(answer.body.scopes).toEqual([scope]);
    }
  });

  test("GET /api/v1/key is no-store and has no entity tag", async () => {
    await using app = await createTestApp();
    const { headers } = await app.call("/api/v1/key", { key: await app.keyWith("read:status") });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("etag")).toBeNull();
  });

  test("GET /api/v1/key returns the previous use, written or not", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    await app.call("/api/v1/key", { key });
    await app.clock.advance(1_000);
    const unwritten = await app.call("/api/v1/key", { key });
    expect(unwritten.body.last_used_at).toBe("2026-03-10T12:00:00.000Z");
    await app.clock.advance(60_000);
    const written = await app.call("/api/v1/key", { key });
    expect(written.body.last_used_at).toBe("2026-03-10T12:00:01.000Z");
  });

  test("GET /api/v1/key returns the same number of remaining requests as the headers", async () => {
    await using app = await createTestApp();
    const { value: key } = await app.createKey({ rate_limit: 7 });
    for (let i = 0; i < 40; i++) {
      const answer = await app.call("/api/v1/key", { key });
      if (answer.status === 200) {
        expect(String(answer.body.remaining)).toBe(
          answer.headers.get("x-ratelimit-remaining") ?? "",
        );
      }
      await app.clock.advance(1_000 * (i % 13));
    }
  });

  test("GET /api/v1/key without a key is missing_key", async () => {
    await using app = await createTestApp();
    expectProblem(await app.call("/api/v1/key"), "missing_key");
  });
});
