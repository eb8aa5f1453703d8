import { describe, expect, test } from "bun:test";
import { SCOPE_NAMES } from "../../../src/features/keys/scopes";
import { ANSWER_MAX_BYTES } from "../../../src/features/mcp/rules";
import { createTestApp } from "../../support/app";
import { createLargePage } from "../../support/large-page";
import { writeLongTexts } from "../../support/long-texts";
import { callOf, callTool, messageOf, resultOf, sentBy } from "../../support/mcp";

interface Shown {
  id: string;
}

function repeated<Value>(times: number, value: Value): Value[] {
  return Array.from({ length: times }, () => value);
}

/** Returns an object with this number of fields. */
function numbered(count: number, value: unknown): object {
  return Object.fromEntries(repeated(count, value).map((each, index) => [`k${index}`, each]));
}

describe("the size of an answer", () => {
  test("a list that is too large has fewer entries, says so, and its cursor leads to the rest", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const ids = await writeLongTexts(app, { incidents: 12, updates: 3 });
    const key = await app.keyWith("read:status");
    const found: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const given = cursor === null ? {} : { cursor };
      const { answer, bytes, isError } = await callTool(app.call, key, "list_incidents", given);
      expect(isError).toBe(false);
      expect(bytes).toBeLessThanOrEqual(ANSWER_MAX_BYTES);
      if (pages === 0) expect(answer.note).toContain("next_cursor");
      for (const { updates } of answer.data) {
        expect(updates.map(({ body }: { body: string }) => body.length)).toEqual(
          Array(3).fill(10_000),
        );
      }
      found.push(...answer.data.map(({ id }: Shown) => id));
      cursor = answer.next_cursor;
      pages += 1;
    } while (cursor !== null);
    expect(pages).toBeGreaterThan(1);
    expect(found).toEqual(ids.toReversed());
  });

  test("a list that is far too large is read twice, and its answer is more than half full", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    await writeLongTexts(app, { incidents: 64, updates: 3 });
    const key = await app.keyWith("read:status");
    await app.app.loadRoutes();
    const route = app.app.routes.routes.find(({ operation }) => operation.id === "listIncidents");
    if (!route) throw new Error("the route exists");
    let reads = 0;
    const { handle } = route;
    route.handle = (sent) => {
      reads += 1;
      return handle(sent);
    };
    const given = { limit: 100 };
    const { answer, bytes } = await callTool(app.call, key, "list_incidents", given);
    expect([reads, bytes <= ANSWER_MAX_BYTES]).toEqual([2, true]);
    expect(bytes).toBeGreaterThan(ANSWER_MAX_BYTES / 2);
    expect(answer.next_cursor).toBeString();
  });

  test("an incident that is too large has shorter texts and the newest updates, and counts the others", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" });
    const [id = ""] = await writeLongTexts(app, { incidents: 1, updates: 200 });
    const key = await app.keyWith("read:status");
    const { answer, bytes, text } = await callTool(app.call, key, "get_incident", { id });
    expect(bytes).toBeLessThanOrEqual(ANSWER_MAX_BYTES);
    expect(bytes).toBeGreaterThan(ANSWER_MAX_BYTES / 10);
    expect(text).toStartWith('{"note":"');
    expect(answer.note).toContain("_left_out");
    const { updates, updates_left_out: leftOut = 0 } = answer;
    expect(updates.length + leftOut).toBe(200);
    expect(updates[0].body).toStartWith("word-0-199 ");
    for (const { body } of updates) expect(body).toEndWith("…");
  });

  test("a page with a thousand components shows those that do not work, and counts the others", async () => {
    await using large = await createLargePage();
    const { app, key, componentIds } = large;
    const broken = componentIds.at(-1) ?? "";
    const setter = await app.keyWith("write:components");
    await app.call(`/api/v1/components/${broken}`, {
      method: "PATCH",
      key: setter,
      json: { status: "major_outage" },
    });
    const { answer, bytes } = await callTool(app.call, key, "get_status", { page: "large" });
    expect(bytes).toBeLessThanOrEqual(ANSWER_MAX_BYTES);
    expect(answer.components[0]).toMatchObject({ id: broken, status: "major_outage" });
    expect(answer.components.length + answer.components_left_out).toBe(1_000);
    expect(answer.components.length).toBeGreaterThan(50);
    expect(answer.note).toContain("_left_out");
  });

  test("the components of a large page can all be listed", async () => {
    await using large = await createLargePage();
    const { app, key, componentIds } = large;
    const found = new Set<string>();
    let cursor: string | undefined;
    do {
      const given = { page: "large", limit: 100, ...(cursor !== undefined && { cursor }) };
      const { answer, bytes } = await callTool(app.call, key, "list_components", given);
      expect(bytes).toBeLessThanOrEqual(ANSWER_MAX_BYTES);
      for (const { id } of answer.data) found.add(id);
      cursor = answer.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect([...found].toSorted()).toEqual(componentIds.toSorted());
  });

  test("figures that are too large are cut and counted", async () => {
    await using large = await createLargePage();
    const { app } = large;
    const key = await app.keyWith("read:analytics");
    const [id] = large.componentIds;
    const given = { component: id, interval: "hour", from: "2026-02-20T00:00:00Z" };
    const { answer, bytes } = await callTool(app.call, key, "get_uptime", given);
    expect(bytes).toBeLessThanOrEqual(ANSWER_MAX_BYTES);
    const { data } = (
      await app.call(`/api/v1/analytics/uptime?${new URLSearchParams(given as never)}`, { key })
    ).body;
    expect(answer.data.length + answer.data_left_out).toBe(data.length);
    expect(answer.data).toEqual(data.slice(0, answer.data.length));
  });

  test("a problem that repeats a large call is cut too", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status", "write:incidents");
    for (const [letter, times] of [
      ['"', 30_000],
      ["\u0001", 10_000],
      ["é", 30_000],
    ] as const) {
      const given = { [letter.repeat(times)]: "x" };
      for (const name of ["list_incidents", "draft_incident"]) {
        const { isError, bytes, answer } = resultOf(
          await app.call("/mcp", callOf(key, name, given)),
        );
        expect([isError, answer.code]).toEqual([true, "validation_failed"]);
        expect(bytes).toBeLessThanOrEqual(ANSWER_MAX_BYTES);
      }
    }
    const long = messageOf("tools/call", { name: "x".repeat(60_000) });
    const { text } = await app.call("/mcp", sentBy(key, long));
    expect(text.length).toBeLessThan(1_000);
  });

  test.each([
    ["initialize", { clientInfo: { name: "a", version: "1", icons: repeated(20_000, {}) } }],
    ["initialize", { capabilities: { experimental: numbered(5_000, 1) } }],
    ["initialize", { _meta: numbered(5_000, 1) }],
    ["tools/list", { _meta: numbered(5_000, 1), cursor: numbered(100, 1) }],
    ["tools/call", { name: "get_status", arguments: repeated(20_000, {}) }],
    ["tools/call", { name: "get_status", arguments: numbered(5_000, {}) }],
    ["tools/call", { name: numbered(5_000, 1), arguments: {}, task: numbered(100, 1) }],
    ["ping", { _meta: { progressToken: repeated(20_000, {}) } }],
  ])("the answer to %s with thousands of wrong parts is short", async (method, params) => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    const known = { protocolVersion: "2025-06-18", capabilities: {} };
    const client = { clientInfo: { name: "test", version: "1" } };
    const given = method === "initialize" ? { ...known, ...client, ...params } : params;
    const { status, text } = await app.call("/mcp", sentBy(key, messageOf(method, given)));
    expect(status).toBeOneOf([200, 400]);
    expect(Buffer.byteLength(text)).toBeLessThan(ANSWER_MAX_BYTES / 4);
  });

  test("the list of all tools is within the limit", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith(...SCOPE_NAMES);
    const { text } = await app.call("/mcp", sentBy(key, messageOf("tools/list")));
    expect(text.length).toBeLessThan(ANSWER_MAX_BYTES / 4);
  });
});
