import { describe, expect, test } from "bun:test";
import { revokeKey, rotateKey } from "../../src/features/keys/keys";
import { openApiSteps } from "../../src/http/openapi";
import { runInSlices } from "../../src/base/in-slices";
import { EVENT_DATA } from "../../src/other-routes";
import { CLI_ACTOR } from "../../src/base/actor";
import { DAY_MS } from "../../src/base/time";
import { createTestApp, expectProblem } from "../support/app";
import { createCreatingApi, TAKEN } from "../support/creating-api";

describe("a POST that creates", () => {
  test("a creating POST answers 201 with Location, version as entity tag, and secret", async () => {
    await using api = await createCreatingApi();
    const { status, headers, body } = await api.post({ name: "One" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^key_/),
      name: "One",
      version: 7,
      secret: expect.stringMatching(/^allclear_/),
    });
    expect(headers.get("location")).toBe(`https://status.test/api/v1/things/${body.id}`);
    expect(headers.get("etag")).toBe('"7"');
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("idempotency-replayed")).toBeNull();
  });

  test("a creating POST without a version has no entity tag", async () => {
    await using api = await createCreatingApi();
    const { status, headers } = await api.post({ path: "/api/v1/things/a/parts" });
    expect(status).toBe(201);
    expect(headers.get("etag")).toBeNull();
  });

  test("a creating POST without an Idempotency-Key creates an object each time", async () => {
    await using api = await createCreatingApi();
    const [first, second] = [await api.post({}), await api.post({})];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.id).not.toBe(second.body.id);
    expect(api.made()).toEqual(["Thing", "Thing"]);
  });
});

describe("the same Idempotency-Key", () => {
  test("the same Idempotency-Key returns the same bytes and creates nothing", async () => {
    await using api = await createCreatingApi();
    const sent = { idempotencyKey: "a", path: "/api/v1/things/a/parts" };
    const first = await api.post(sent);
    const audit = api.app.audit();
    await api.app.clock.advance(60_000);
    const again = await api.post(sent);
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(api.made()).toEqual(["Thing"]);
    expect(api.app.audit()).toEqual(audit);
  });

  test("a replayed answer has the entity tag, and null instead of secrets", async () => {
    await using api = await createCreatingApi();
    const first = await api.post({ idempotencyKey: "a" });
    const again = await api.post({ idempotencyKey: "a" });
    expect(first.body.secret).toMatch(/^allclear_/);
    expect(again.body).toEqual({ ...first.body, secret: null });
    expect(again.headers.get("etag")).toBe('"7"');
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  test("twenty concurrent requests with one Idempotency-Key create one object and have equal answers", async () => {
    await using api = await createCreatingApi();
    const sent = { idempotencyKey: "a", path: "/api/v1/things/a/parts" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.post(sent)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(new Set(answers.map(({ headers }) => headers.get("location"))).size).toBe(1);
    const isReplayed = answers.map(({ headers }) => headers.get("idempotency-replayed"));
    expect(isReplayed.filter((value) => value === "true")).toHaveLength(19);
    expect(api.made()).toEqual(["Thing"]);
  });

  test.each([
    ["of other content", '{"name":"Other"}'],
    ["of the same content in other bytes", '{ "name": "Thing" }'],
  ])(
    "the same Idempotency-Key with a body %s is rejected, and nothing is written",
    async (_, raw) => {
      await using api = await createCreatingApi();
      await api.post({ idempotencyKey: "a" });
      const audit = api.app.audit();
      expectProblem(await api.post({ idempotencyKey: "a", raw }), "idempotency_mismatch");
      expect(api.made()).toEqual(["Thing"]);
      expect(api.app.audit()).toEqual(audit);
      const again = await api.post({ idempotencyKey: "a" });
      expect(again.headers.get("idempotency-replayed")).toBe("true");
    },
  );

  test("the same Idempotency-Key on another path is another request", async () => {
    await using api = await createCreatingApi();
    const paths = ["/api/v1/things", "/api/v1/things/a/parts", "/api/v1/things/b/parts"];
    for (const path of paths) {
      const { status, headers } = await api.post({ idempotencyKey: "a", path });
      expect([status, headers.get("idempotency-replayed")]).toEqual([201, null]);
    }
    expect(api.made()).toHaveLength(3);
  });

  test("the same Idempotency-Key from another API key is another request", async () => {
    await using api = await createCreatingApi();
    const { value: key } = await api.app.createKey({ scopes: ["write:incidents"] });
    const first = await api.post({ idempotencyKey: "a", name: "Mine" });
    const theirs = await api.post({ idempotencyKey: "a", name: "Theirs", key });
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(first.body.id);
    expect(api.made()).toEqual(["Mine", "Theirs"]);
  });

  test("the same Idempotency-Key with a rotated key value is the same request", async () => {
    await using api = await createCreatingApi();
    const { ctx } = api.app;
    const first = await api.post({ idempotencyKey: "a" });
    const { value: key } = await ctx.db.write((tx) =>
      rotateKey(ctx, tx, api.key.id, "now", CLI_ACTOR),
    );
    const again = await api.post({ idempotencyKey: "a", key });
    expect(again.body.id).toBe(first.body.id);
    expect(api.made()).toEqual(["Thing"]);
  });

  test("the same Idempotency-Key with a revoked API key is rejected without the stored answer", async () => {
    await using api = await createCreatingApi();
    const { ctx } = api.app;
    await api.post({ idempotencyKey: "a" });
    await ctx.db.write((tx) => revokeKey(ctx, tx, api.key.id, CLI_ACTOR));
    const again = await api.post({ idempotencyKey: "a" });
    expectProblem(again, "revoked_key");
    expect(again.headers.get("location")).toBeNull();
    expect(api.made()).toEqual(["Thing"]);
  });

  test("an Idempotency-Key is valid for exactly 24 hours", async () => {
    await using api = await createCreatingApi();
    const first = await api.post({ idempotencyKey: "a" });
    await api.app.clock.advance(DAY_MS - 1);
    const last = await api.post({ idempotencyKey: "a" });
    expect(last.body.id).toBe(first.body.id);
    await api.app.clock.advance(1);
    const repeated = await api.post({ idempotencyKey: "a", name: "Anew" });
    expect(repeated.status).toBe(201);
    expect(repeated.headers.get("idempotency-replayed")).toBeNull();
    const again = await api.post({ idempotencyKey: "a", name: "Anew" });
    expect(again.body.id).toBe(repeated.body.id);
    expect(api.made()).toEqual(["Thing", "Anew"]);
  });
});

describe("rejected requests with an Idempotency-Key", () => {
  test("a rejected request can be corrected and sent with the same Idempotency-Key", async () => {
    await using api = await createCreatingApi();
    const audit = api.app.audit();
    expectProblem(await api.post({ idempotencyKey: "a", name: "" }), "validation_failed");
    expectProblem(await api.post({ idempotencyKey: "a", raw: "{" }), "invalid_request");
    expectProblem(await api.post({ idempotencyKey: "a", name: TAKEN }), "conflict");
    expect(api.made()).toEqual([]);
    expect(api.app.audit()).toEqual(audit);
    const mended = await api.post({ idempotencyKey: "a", name: "Free" });
    expect(mended.status).toBe(201);
    expect(mended.headers.get("idempotency-replayed")).toBeNull();
    expect(api.made()).toEqual(["Free"]);
  });

  test("a rejected request is rejected again with the same Idempotency-Key", async () => {
    await using api = await createCreatingApi();
    for (let time = 0; time < 2; time++) {
      const rejected = await api.post({ idempotencyKey: "a", name: TAKEN });
      expectProblem(rejected, "conflict");
      expect(rejected.headers.get("idempotency-replayed")).toBeNull();
    }
    expect(api.made()).toEqual([]);
  });
});

describe("the format of an Idempotency-Key", () => {
  test.each([
    ["of one character", "a"],
    ["of 128 characters", "k".repeat(128)],
    ["a UUID", "8e03978e-40d5-43e8-bc93-6894a57f9324"],
    ["in quotes", '"8e03978e"'],
    ["any printable ASCII", "!~ #[{,;=/"],
  ])("an Idempotency-Key is accepted: %s", async (_, idempotencyKey) => {
    await using api = await createCreatingApi();
    const first = await api.post({ idempotencyKey });
    const again = await api.post({ idempotencyKey });
    expect([first.status, again.body.id]).toEqual([201, first.body.id]);
    expect(api.made()).toEqual(["Thing"]);
  });

  test.each([
    ["empty", ""],
    ["of 129 characters", "k".repeat(129)],
    ["beyond ASCII", "caf\u00e9"],
    ["with a tab in it", "a\tb"],
  ])("an Idempotency-Key is rejected, and nothing is written: %s", async (_, idempotencyKey) => {
    await using api = await createCreatingApi();
    const audit = api.app.audit();
    const { detail } = expectProblem(await api.post({ idempotencyKey }), "invalid_request");
    expect(detail).toContain("Idempotency-Key");
    expect(api.made()).toEqual([]);
    expect(api.app.audit()).toEqual(audit);
  });

  test("Idempotency-Keys are case-sensitive", async () => {
    await using api = await createCreatingApi();
    await api.post({ idempotencyKey: "a" });
    const other = await api.post({ idempotencyKey: "A" });
    expect(other.headers.get("idempotency-replayed")).toBeNull();
    expect(api.made()).toHaveLength(2);
  });
});

describe("routes and Idempotency-Key", () => {
  test("a route that uses Idempotency-Key without declaring it fails and creates nothing", async () => {
    await using api = await createCreatingApi();
    expectProblem(await api.post({ path: "/api/v1/undeclared" }), "internal_error");
    expect(api.made()).toEqual([]);
  });

  test("a route that declares Idempotency-Key is documented with header, answers and error", async () => {
    await using api = await createCreatingApi();
    const server = { baseUrl: "https://x.test", version: "1" };
    const document = await runInSlices(openApiSteps(api.app.app.routes, server, EVENT_DATA));
    const paths = document["paths"] as Record<string, { post: Record<string, never> }>;
    const thing = paths["/api/v1/things"]?.post as never as {
      parameters: unknown[];
      responses: Record<string, { headers: object; content: Record<string, { examples: object }> }>;
    };
    expect(thing.parameters).toContainEqual({
      name: "Idempotency-Key",
      in: "header",
      required: false,
      schema: { type: "string", minLength: 1, maxLength: 128, pattern: "^[ -~]+$" },
      description: expect.stringContaining("24 hours"),
    });
    const { headers } = thing.responses["201"] ?? {};
    expect(Object.keys(headers ?? {})).toEqual(
      expect.arrayContaining(["Location", "ETag", "Idempotency-Replayed"]),
    );
    const rejected = thing.responses["422"]?.content["application/problem+json"]?.examples ?? {};
    expect(Object.keys(rejected)).toContain("idempotency_mismatch");
    const part = paths["/api/v1/things/{id}/parts"]?.post as never as typeof thing;
    expect(Object.keys(part.responses["201"]?.headers ?? {})).not.toContain("ETag");
  });

  test("exactly the creating POST routes of the API support Idempotency-Key", async () => {
    await using app = await createTestApp({ dashboard: true });
    for (const { method, path, operation } of app.app.routes.routes) {
      const isCreating =
        method === "POST" && path.startsWith("/api/v1/") && "201" in operation.answers;
      expect([path, operation.idempotent ?? false]).toEqual([path, isCreating]);
    }
  });
});
