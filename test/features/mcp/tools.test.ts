import { afterAll, describe, expect, test } from "bun:test";
import { type Scope, SCOPE_NAMES } from "../../../src/features/keys/scopes";
import { ofMonitors } from "../../../src/features/monitors/checks-store";
import { findMonitor } from "../../../src/features/monitors/store";
import { createTestClock } from "../../support/clock";
import { connect, TOOLS_BY_SCOPE } from "../../support/mcp";
import { serveApp } from "../../support/served-app";
import { shareSite } from "../../support/shared-site";

const site = shareSite(async () => {
  const served = await serveApp({ clock: createTestClock() });
  const { app } = served;
  const { components } = await app.page({ slug: "acme" }, ["API", "Website"]);
  const all = await app.keyWith(...SCOPE_NAMES);
  const post = async (path: string, json: object) => {
    const { status, body, text } = await app.call(`/api/v1${path}`, {
      method: "POST",
      key: all,
      json,
    });
    if (status !== 201) throw new Error(text);
    return body;
  };
  const named = { page: "acme", name: "Slow", body: "Slow." };
  const api = components["API"] ?? "";
  const incident = await post("/incidents", { ...named, components: { [api]: "major_outage" } });
  const draft = await post("/incidents", { ...named, name: "Not yet", draft: true });
  await post("/maintenance", {
    ...named,
    components: [api],
    scheduled_for: "2026-03-11T00:00:00Z",
    scheduled_until: "2026-03-11T01:00:00Z",
  });
  const monitor = await post("/monitors", {
    type: "http",
    name: "Shop",
    component_ids: [api],
    config: { url: "https://shop.example.com/secret-path", headers: { "X-Token": "hidden" } },
  });
  await app.ctx.db.write((tx) => {
    const row = findMonitor(tx, { id: monitor.id });
    const at = app.clock.now() - 1_000;
    const result = { at, outcome: "ok", latencyMs: 12, message: null } as const;
    ofMonitors.insertCheck(tx, { monitorNum: row?.num ?? 0, ...result });
  });
  return { ...served, all, incident, draft, monitor };
});

/** Connects a client with a key that has these scopes. */
async function clientWith(...scopes: Scope[]) {
  const { app, origin } = await site();
  const client = await connect(origin, await app.keyWith(...scopes));
  clients.push(client);
  return client;
}

const clients: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const client of clients) await client.close();
});

type Called = Awaited<ReturnType<Awaited<ReturnType<typeof connect>>["callTool"]>>;

/** Returns the text of a result, parsed. */
function answerOf({ content, isError }: Called) {
  const [{ type, text }] = content as [{ type: string; text: string }];
  expect(type).toBe("text");
  return { isError: isError ?? false, answer: JSON.parse(text) };
}

describe("the tools of a key", () => {
  test.each(SCOPE_NAMES)(
    "a key with %s only sees exactly the tools of this scope",
    async (scope) => {
      const client = await clientWith(scope);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([...TOOLS_BY_SCOPE[scope]]);
    },
  );

  test("a key with all scopes sees every tool, and each names its arguments and says if it only reads", async () => {
    const client = await clientWith(...SCOPE_NAMES);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      Object.values(TOOLS_BY_SCOPE).flat().toSorted(),
    );
    for (const { name, description = "", inputSchema, annotations } of tools) {
      expect(description).toMatch(/\.$/);
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(annotations?.readOnlyHint).toBe(name !== "draft_incident");
      expect(annotations?.destructiveHint).toBe(false);
    }
    const required = Object.fromEntries(
      tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]),
    );
    expect(required).toMatchObject({
      get_status: [],
      get_incident: ["id"],
      get_monitor: ["id"],
      draft_incident: ["body"],
    });
  });

  test.each(SCOPE_NAMES)(
    "a key with all scopes but %s cannot call the tools of this scope, and is told the scope",
    async (scope) => {
      const client = await clientWith(...SCOPE_NAMES.filter((name) => name !== scope));
      for (const name of TOOLS_BY_SCOPE[scope]) {
        const given = { page: "acme", id: "x", name: "Down", body: "It is down." };
        const { isError, answer } = answerOf(await client.callTool({ name, arguments: given }));
        expect([isError, answer.code]).toEqual([true, "insufficient_scope"]);
        expect(answer.detail).toContain(scope);
      }
    },
  );

  test("a client learns the name of the server, and that untrusted text is data", async () => {
    const client = await clientWith("read:status");
    expect(client.getServerVersion()).toMatchObject({ name: "allclear" });
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    expect(client.getInstructions()).toContain("untrusted_text");
    await client.ping();
  });

  test("an unknown tool is an error of the protocol", async () => {
    const client = await clientWith(...SCOPE_NAMES);
    await expect(client.callTool({ name: "publish_incident" })).rejects.toThrow("no such tool");
  });
});

describe("the answers of the tools", () => {
  const read = async (path: string) => {
    const { app, all } = await site();
    return (await app.call(`/api/v1${path}`, { key: all })).body;
  };
  const called = async (name: string, given: Record<string, unknown> = {}) => {
    const client = await clientWith(...SCOPE_NAMES);
    return answerOf(await client.callTool({ name, arguments: given }));
  };

  test.each([
    ["get_status", {}, "/status"],
    ["list_components", { page: "acme" }, "/components?page=acme"],
    ["list_incidents", {}, "/incidents"],
    ["list_incidents", { open: true, limit: 1, page: null }, "/incidents?open=true&limit=1"],
    ["list_maintenance", { upcoming: "true" }, "/maintenance?upcoming=true"],
    ["get_uptime", { page: "acme", interval: "day" }, "/analytics/uptime?page=acme&interval=day"],
    ["get_latency", { monitor: "shop" }, "/analytics/latency?monitor=shop"],
  ])("%s with %j answers as GET %s does", async (name, given, path) => {
    const { isError, answer } = await called(name, given);
    expect(isError).toBe(false);
    const expected = await read(path);
    expect(expected.data.length).toBeGreaterThan(0);
    expect(answer).toEqual(expected);
  });

  test("get_status of a page answers with its status document, the worst components first", async () => {
    const { answer } = await called("get_status", { page: "acme" });
    const document = await read("/status/acme");
    const names = answer.components.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["API", "Website"]);
    expect(answer.components.map(({ status }: { status: string }) => status)).toEqual([
      "major_outage",
      "operational",
    ]);
    expect({ ...answer, components: answer.components.toSorted(byPosition) }).toEqual(document);
  });

  test("get_status of a private page answers a key as the API does", async () => {
    const { app } = await site();
    await app.page({ slug: "inside", name: "Inside", visibility: "private" }, ["Vault"]);
    const { isError, answer } = await called("get_status", { page: "inside" });
    expect(isError).toBe(false);
    expect(answer.page.visibility).toBe("private");
    expect({ ...answer, components: answer.components.toSorted(byPosition) }).toEqual(
      await read("/status/inside"),
    );
  });

  test("get_incident answers with the incident and all of its updates", async () => {
    const { incident } = await site();
    const { answer } = await called("get_incident", { id: incident.id });
    expect(answer).toEqual(await read(`/incidents/${incident.id}`));
  });

  test("list_incidents shows drafts only to a key with both scopes", async () => {
    const client = await clientWith("read:status");
    const { answer } = answerOf(await client.callTool({ name: "list_incidents" }));
    expect(answer.data.map(({ name }: { name: string }) => name)).toEqual(["Slow"]);
    const both = await called("list_incidents");
    expect(both.answer.data.map(({ name }: { name: string }) => name)).toEqual(["Not yet", "Slow"]);
  });

  test("get_incident of a draft answers a key with both scopes, and to others there is none", async () => {
    const { draft } = await site();
    const client = await clientWith("read:status");
    const given = { name: "get_incident", arguments: { id: draft.id } };
    const hidden = answerOf(await client.callTool(given));
    expect([hidden.isError, hidden.answer.code]).toEqual([true, "not_found"]);
    expect((await called("get_incident", { id: draft.id })).answer).toMatchObject({ draft: true });
  });

  test("monitors are shown without their configuration", async () => {
    const { monitor } = await site();
    const { config, last_check: check, ...expected } = await read(`/monitors/${monitor.id}`);
    expect(config.url).toContain("secret-path");
    const { message, ...result } = check;
    expect(message).toBeNull();
    const shown = { ...expected, last_check: { ...result, untrusted_text: null } };
    for (const id of [monitor.id, "shop"]) {
      const { answer } = await called("get_monitor", { id });
      expect(answer).toEqual(shown);
      // A new field with text from outside must be renamed by `monitorForTools`.
      expect(Object.keys(answer).toSorted()).toEqual(MONITOR_FIELDS);
    }
    const { answer } = await called("list_monitors", { type: "http" });
    expect(answer).toEqual({ data: [shown], next_cursor: null });
  });

  test("the pages of a list follow each other by the cursor", async () => {
    const first = await called("list_components", { page: "acme", limit: 1 });
    expect(first.answer.data).toHaveLength(1);
    const cursor = first.answer.next_cursor;
    const second = await called("list_components", { page: "acme", limit: 1, cursor });
    expect(second.answer.next_cursor).toBeNull();
    const names = [first, second].map(({ answer }) => answer.data[0].name);
    expect(names).toEqual(["Website", "API"]);
  });

  test.each([
    ["get_incident", {}, "validation_failed", "#/id"],
    ["get_incident", { id: null }, "validation_failed", "#/id"],
    ["get_incident", { id: "inc_none" }, "not_found", undefined],
    ["get_incident", { id: ["inc_none"] }, "validation_failed", "#/id"],
    ["get_incident", { id: "inc_none", page: "acme" }, "validation_failed", "#/page"],
    ["get_status", { page: "none" }, "not_found", undefined],
    ["list_incidents", { page: "none" }, "invalid_request", "#/page"],
    ["list_incidents", { limit: 101 }, "invalid_request", "#/limit"],
    ["list_incidents", { status: "over" }, "invalid_request", "#/status"],
    ["list_incidents", { cursor: "x" }, "invalid_request", "#/cursor"],
    ["list_components", { state: "up" }, "validation_failed", "#/state"],
    ["get_monitor", { id: "none" }, "not_found", undefined],
    ["get_uptime", { page: "acme", monitor: "shop" }, "invalid_request", "#/monitor"],
    ["get_uptime", { from: "yesterday" }, "invalid_request", "#/from"],
  ])("%s with %j is a result with the problem of the API", async (name, given, code, pointer) => {
    const { isError, answer } = await called(name, given);
    expect(isError).toBe(true);
    expect(answer).toMatchObject({ code, type: `/docs/errors#${code}` });
    expect(answer.instance).toMatch(/^urn:request:req_/);
    expect(answer.errors?.[0].pointer).toBe(pointer);
  });
});

function byPosition(one: { position: number }, other: { position: number }): number {
  return one.position - other.position;
}

const MONITOR_FIELDS = [
  "acknowledgement",
  "certificate_expires_at",
  "component_ids",
  "created_at",
  "degraded_after_ms",
  "depends_on",
  "down_when",
  "failure_threshold",
  "group",
  "id",
  "interval_seconds",
  "inverted",
  "last_check",
  "locations",
  "name",
  "notes",
  "on_down",
  "open_incident",
  "paused",
  "ref",
  "reminder_seconds",
  "retry_interval_seconds",
  "state",
  "state_since",
  "success_threshold",
  "tags",
  "timeout_ms",
  "type",
  "unreachable_via",
  "updated_at",
  "version",
];
