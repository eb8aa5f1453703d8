import { describe, expect, test } from "bun:test";
import { revokeKey } from "../../../src/features/keys/keys";
import { CLI_ACTOR } from "../../../src/base/actor";
import { chargeOf, createTestApp, expectProblem, type TestApp } from "../../support/app";
import { callOf, messageOf, resultOf, sentBy } from "../../support/mcp";
import { visit } from "../../support/domains";
import { shareSite } from "../../support/shared-site";
import { streamOf } from "../../support/streamed-body";

const LIST = messageOf("tools/list");
const MESSAGE_MAX_BYTES = 64 * 1024;

const site = shareSite(async () => {
  const app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } });
  await app.page({ slug: "acme" });
  const key = await app.keyWith("read:status", "write:incidents");
  return { app, key, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
});

/** Returns a message of exactly this size in bytes. */
function messageOfSize(bytes: number): string {
  const message = { ...LIST, params: { _meta: { filling: "" } } };
  const rest = bytes - JSON.stringify(message).length;
  message.params._meta.filling = "x".repeat(rest);
  return JSON.stringify(message);
}

const JSON_TYPE = { "content-type": "application/json" };

describe("a message to /mcp", () => {
  test("a message without a live key is refused as by the API", async () => {
    await using app = await createTestApp();
    const { key, value } = await app.createKey({ scopes: ["read:status"] });
    const { value: expiring } = await app.createKey({ expires: "2026-03-11" });
    for (const json of [LIST, [], { nothing: true }]) {
      expectProblem(await app.call("/mcp", sentBy(undefined, json)), "missing_key");
      expectProblem(await app.call("/mcp", sentBy("nonsense", json)), "invalid_key");
    }
    expect((await app.call("/mcp", sentBy(value, LIST))).status).toBe(200);
    await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
    expectProblem(await app.call("/mcp", sentBy(value, LIST)), "revoked_key");
    expect((await app.call("/mcp", sentBy(expiring, LIST))).status).toBe(200);
    await app.clock.advance(48 * 3_600_000);
    expectProblem(await app.call("/mcp", sentBy(expiring, LIST)), "expired_key");
  });

  test("a message takes one token of the key, whatever it asks for and however much that reads", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const { value } = await app.createKey({ scopes: ["read:status"], rate_limit: 5 });
    const sent = [
      callOf(value, "get_status", { page: "acme" }),
      callOf(value, "list_monitors"),
      sentBy(value, LIST),
      sentBy(value, { jsonrpc: "2.0", method: "notifications/initialized" }),
      sentBy(value, [LIST]),
    ];
    for (const [taken, options] of sent.entries()) {
      expect(chargeOf(await app.call("/mcp", options))).toBe(`key ${4 - taken}`);
    }
    const refused = await app.call("/mcp", callOf(value, "get_status"));
    expectProblem(refused, "rate_limited");
    expect(refused.headers.get("retry-after")).toBe("60");
    expectProblem(await app.call("/api/v1/status", { key: value }), "rate_limited");
    await app.clock.advance(60_000);
    expect((await app.call("/mcp", callOf(value, "get_status"))).status).toBe(200);
  });

  test("uses of the key are counted, and the message is logged without the key", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const { key, value } = await app.createKey({ scopes: ["read:status"] });
    await app.call("/mcp", callOf(value, "list_components"));
    const { body } = await app.call("/api/v1/key", { key: value });
    expect(body.last_used_at).not.toBeNull();
    const lines = app.logged.filter(({ url }) => String(url).endsWith("/mcp"));
    expect(lines.map(({ method, status, key: id }) => [method, status, id])).toEqual([
      ["POST", 200, key.id],
    ]);
    expect(JSON.stringify(app.logged)).not.toContain(value);
  });

  test("an answer is never stored by a cache, and has the headers of every answer", async () => {
    const { app, key } = await site();
    const { headers } = await app.call("/mcp", sentBy(key, LIST));
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("mcp-session-id")).toBeNull();
  });

  test("a notification is answered with 202 and no body", async () => {
    const { app, key } = await site();
    const json = { jsonrpc: "2.0", method: "notifications/initialized" };
    const answer = await app.call("/mcp", sentBy(key, json));
    expect([answer.status, answer.text]).toEqual([202, ""]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test.each(["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS"])(
    "%s is not a method of /mcp",
    async (method) => {
      const { app, key } = await site();
      for (const given of [key, undefined]) {
        const headers = { accept: "text/event-stream" };
        const answer = await app.call("/mcp", { method, key: given, headers });
        if (method !== "HEAD") expectProblem(answer, "method_not_allowed");
        expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
      }
    },
  );

  test.each([
    "https://evil.example",
    "https://status.test.evil.example",
    "https://status.test:8443",
    "http://status.test",
    "null",
    "",
  ])("a message from a page of the origin %j is refused, and no body is read", async (origin) => {
    const { app, key } = await site();
    const body = streamOf(JSON.stringify(LIST));
    const headers = { ...JSON_TYPE, origin, "transfer-encoding": "chunked" };
    const answer = await app.call("/mcp", { method: "POST", key, headers, raw: body.stream });
    expectProblem(answer, "cross_site_request");
    expect(body.wasRead()).toBe(false);
  });

  test("a message with the origin of the public address is answered", async () => {
    const { app, key } = await site();
    const headers = { origin: "https://status.test" };
    expect((await app.call("/mcp", { ...sentBy(key, LIST), headers })).status).toBe(200);
  });

  test("a list of messages is refused, also an empty one, and nothing is done", async () => {
    const { app, key } = await site();
    const given = { page: "acme", name: "Down", body: "It is down." };
    const draft = messageOf("tools/call", { name: "draft_incident", arguments: given });
    for (const json of [[], [LIST], [draft, draft]]) {
      const answer = await app.call("/mcp", sentBy(key, json));
      expect(expectProblem(answer, "invalid_request").detail).toContain("one JSON object");
    }
    expect(app.audit().map(({ action }) => action)).not.toContain("incident.create");
  });

  test.each([
    ["null", "invalid_request"],
    ['"tools/list"', "invalid_request"],
    ["5", "invalid_request"],
    ["{", "invalid_request"],
    ["", "invalid_request"],
    [`{"a":${"[".repeat(40)}${"]".repeat(40)}}`, "invalid_request"],
  ] as const)("the body %j is refused", async (raw, code) => {
    const { app, key } = await site();
    expectProblem(await app.call("/mcp", { method: "POST", key, headers: JSON_TYPE, raw }), code);
  });

  test("a body of 64 KiB is read and a larger one is refused, with and without a length", async () => {
    const { app, key } = await site();
    const post = (raw: string | ReadableStream, more: Record<string, string> = {}) =>
      app.call("/mcp", { method: "POST", key, headers: { ...JSON_TYPE, ...more }, raw });
    expect((await post(messageOfSize(MESSAGE_MAX_BYTES))).status).toBe(200);
    const large = messageOfSize(MESSAGE_MAX_BYTES + 1);
    expectProblem(await post(large), "payload_too_large");
    const chunked = { "transfer-encoding": "chunked" };
    expectProblem(await post(streamOf(large).stream, chunked), "payload_too_large");
  });

  test("a body that is not JSON or is compressed is refused", async () => {
    const { app, key } = await site();
    const post = (headers: Record<string, string>) =>
      app.call("/mcp", { method: "POST", key, headers, raw: JSON.stringify(LIST) });
    expectProblem(await post({ "content-type": "text/plain" }), "unsupported_media_type");
    expectProblem(
      await post({ ...JSON_TYPE, "content-encoding": "gzip" }),
      "unsupported_media_type",
    );
  });

  test.each([
    ["no message", {}],
    ["another version of JSON-RPC", { ...LIST, jsonrpc: "1.0" }],
    ["an id that is an object", { ...LIST, id: {} }],
  ])("%s is an error of the protocol with 400", async (_what, json) => {
    const { app, key } = await site();
    const { status, body } = await app.call("/mcp", sentBy(key, json));
    expect([status, body.jsonrpc, body.error.code]).toEqual([400, "2.0", -32700]);
  });

  test("a version of the protocol that is not supported is an error with 400", async () => {
    const { app, key } = await site();
    const call = (version: string) =>
      app.call("/mcp", { ...sentBy(key, LIST), headers: { "mcp-protocol-version": version } });
    expect((await call("2025-06-18")).status).toBe(200);
    const { status, body } = await call("1999-01-01");
    expect([status, body.error.code]).toEqual([400, -32000]);
  });

  test("an unknown method is an error of the protocol", async () => {
    const { app, key } = await site();
    for (const method of ["resources/list", "tools/none", "logging/setLevel"]) {
      const { status, body } = await app.call("/mcp", sentBy(key, messageOf(method)));
      expect([status, body.error.code]).toEqual([200, -32601]);
    }
  });

  test("a call that asks for a task, or lacks its id, drafts nothing", async () => {
    const { app, key } = await site();
    const { params, ...message } = messageOf("tools/call", {
      name: "draft_incident",
      arguments: { page: "acme", name: "Not drafted", body: "It is down." },
    });
    const asked = { ...message, params: { ...params, task: { ttl: 1_000 } } };
    const { status, body } = await app.call("/mcp", sentBy(key, asked));
    expect([status, body.result, body.error.message]).toEqual([
      200,
      undefined,
      expect.stringContaining("does not support task"),
    ]);
    const { id: _id, ...notification } = { ...message, params };
    expect((await app.call("/mcp", sentBy(key, notification))).status).toBe(202);
    expect(app.audit().filter(({ action }) => action === "incident.create")).toEqual([]);
    resultOf(await app.call("/mcp", sentBy(key, { ...message, params })));
    expect(app.audit().filter(({ action }) => action === "incident.create")).toHaveLength(1);
  });

  test("an id of a hundred characters is repeated, and a longer one is refused", async () => {
    const { app, key } = await site();
    const send = (id: string) => app.call("/mcp", sentBy(key, { ...LIST, id }));
    expect((await send("i".repeat(100))).body.id).toBe("i".repeat(100));
    expectProblem(await send("i".repeat(101)), "invalid_request");
  });

  test("a fault of the server is a result that says nothing of its cause, which is logged", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    await app.app.loadRoutes();
    const route = app.app.routes.routes.find(({ operation }) => operation.id === "listIncidents");
    if (!route) throw new Error("the route exists");
    route.handle = () => {
      throw new Error("not to be read");
    };
    const answer = await app.call("/mcp", callOf(key, "list_incidents"));
    const { isError, answer: problem, text } = resultOf(answer);
    expect([isError, problem.code]).toEqual([true, "internal_error"]);
    expect(text).not.toContain("not to be read");
    const request = answer.headers.get("x-request-id");
    expect(problem.instance).toBe(`urn:request:${request}`);
    const [line] = app.logged.filter(({ msg }) => msg === "a call of a tool failed");
    expect(line).toMatchObject({ request, tool: "list_incidents" });
  });
});

describe("the option mcp", () => {
  const answersOf = async (app: TestApp) => {
    const key = await app.keyWith("read:status");
    const answers = [await app.call("/mcp", sentBy(key, LIST)), await app.call("/mcp", { key })];
    return answers.map(({ status }) => status);
  };

  test("/mcp answers by default", async () => {
    await using app = await createTestApp();
    expect(await answersOf(app)).toEqual([200, 405]);
  });

  test("with off, /mcp does not exist", async () => {
    await using app = await createTestApp({ env: { ALLCLEAR_MCP: "off" } });
    expect(await answersOf(app)).toEqual([404, 404]);
  });

  test("/mcp does not exist on the custom domain of a page", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", custom_domains: ["status.acme.test"] });
    const headers = { authorization: `Bearer ${await app.keyWith("read:status")}`, ...JSON_TYPE };
    const init = { method: "POST", headers, body: JSON.stringify(LIST) };
    expect((await visit(app, "status.acme.test", "/mcp", init)).status).toBe(404);
    expect((await visit(app, "status.test", "/mcp", init)).status).toBe(200);
  });
});
