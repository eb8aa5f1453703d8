import { describe, expect, test } from "bun:test";
import { chargeOf, expectProblem } from "../../support/app";
import { createReplicaPair } from "../../support/fleet/replica-pair";
import { callOf, messageOf, resultOf, sentBy } from "../../support/mcp";
import { streamOf } from "../../support/streamed-body";

const DRAFT = { page: "acme", name: "Down", body: "It is down." };

describe("tools of AI agents at a replica", () => {
  test("reads are answered by the replica, which charges the key, also without a primary", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("read:status", "read:analytics");
    pair.state.address = undefined;
    const calls = [
      sentBy(key, messageOf("tools/list")),
      callOf(key, "get_status", { page: "acme" }),
      callOf(key, "list_components"),
      callOf(key, "get_uptime"),
    ];
    for (const [taken, options] of calls.entries()) {
      const answer = await pair.call("/mcp", options);
      expect([answer.status, chargeOf(answer)]).toEqual([200, `key ${999 - taken}`]);
      expect(answer.headers.get("allclear-as-of")).toBe("2026-03-10T12:00:00.000Z");
    }
    const { answer } = resultOf(await pair.call("/mcp", callOf(key, "list_components")));
    expect(answer.data).toHaveLength(2);
    expect(pair.received).toEqual([]);
  });

  test("a draft is made by the primary once, which charges the key", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("read:status", "write:incidents");
    const answer = await pair.call("/mcp", callOf(key, "draft_incident", DRAFT));
    expect(resultOf(answer).answer.incident).toMatchObject({ draft: true, name: "Down" });
    expect(chargeOf(answer)).toBe("key 999");
    expect(pair.received).toHaveLength(1);
    const made = pair.primary.audit().filter(({ action }) => action === "incident.create");
    expect(made).toHaveLength(1);
  });

  test("what a key drafted is read from the primary for five seconds, and then from the replica", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("read:status", "write:incidents");
    const other = await pair.primary.keyWith("read:status");
    await pair.call("/mcp", callOf(key, "draft_incident", DRAFT));
    for (const seconds of [0, 3]) {
      await pair.primary.clock.advance(seconds * 1_000);
      const { answer } = resultOf(await pair.call("/mcp", callOf(key, "list_incidents")));
      expect(answer.data).toHaveLength(1);
    }
    expect(pair.received).toHaveLength(3);
    await pair.call("/mcp", callOf(other, "list_incidents"));
    await pair.primary.clock.advance(3_000);
    await pair.call("/mcp", callOf(key, "list_incidents"));
    expect(pair.received).toHaveLength(3);
  });

  test("without a primary, a draft is refused as other changes are", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("read:status", "write:incidents");
    pair.state.address = undefined;
    const refused = await pair.call("/mcp", callOf(key, "draft_incident", DRAFT));
    expect(expectProblem(refused, "unavailable").detail).toContain("nothing was changed");
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(pair.primary.audit().map(({ action }) => action)).not.toContain("incident.create");
  });

  test("messages that are refused are refused as on the primary, and none is sent on", async () => {
    await using pair = await createReplicaPair();
    const key = await pair.primary.keyWith("read:status");
    const post = { method: "POST", headers: { "content-type": "application/json" } };
    const list = messageOf("tools/list");
    expectProblem(await pair.call("/mcp", sentBy(undefined, list)), "missing_key");
    expectProblem(await pair.call("/mcp", sentBy(key, [list])), "invalid_request");
    expectProblem(await pair.call("/mcp", { ...post, key, raw: "{" }), "invalid_request");
    expectProblem(await pair.call("/mcp", { ...post, key, raw: "" }), "invalid_request");
    const large = JSON.stringify({ ...list, params: { filling: "x".repeat(70_000) } });
    expectProblem(await pair.call("/mcp", { ...post, key, raw: large }), "payload_too_large");
    const foreign = { ...sentBy(key, list), headers: { origin: "https://evil.example" } };
    expectProblem(await pair.call("/mcp", foreign), "cross_site_request");
    expectProblem(await pair.call("/mcp", { key }), "method_not_allowed");
    expect(pair.received).toEqual([]);
  });

  test("a message without a live key is refused at once, as by the primary, and its body is not read", async () => {
    await using pair = await createReplicaPair();
    const key = await pair.primary.keyWith("read:status");
    const draft = JSON.stringify(callOf("", "draft_incident", DRAFT).json);
    const post = async (sent: string | undefined) => {
      const { stream, wasRead } = streamOf(draft);
      const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
      const answer = await pair.call("/mcp", { method: "POST", key: sent, headers, raw: stream });
      return { answer, wasRead: wasRead() };
    };
    const missing = await post(undefined);
    expectProblem(missing.answer, "missing_key");
    expect([missing.wasRead, chargeOf(missing.answer)]).toEqual([false, "public 99"]);
    const unknown = await post(`allclear_${"0".repeat(43)}`);
    expectProblem(unknown.answer, "invalid_key");
    expect(unknown.wasRead).toBe(false);
    expect((await post(key)).wasRead).toBe(true);
    expect(pair.received).toHaveLength(1);
  });

  test("a key that the replica does not know is refused by the primary while the replica may not know new keys", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.keyWith("read:status");
    pair.state.acceptsKeys = false;
    const sent = sentBy(`allclear_${"0".repeat(43)}`, messageOf("tools/list"));
    expectProblem(await pair.call("/mcp", sent), "invalid_key");
    expect(pair.received).toHaveLength(1);
  });

  test("a replica that may not know of revoked keys refuses reads", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("read:status");
    pair.state.acceptsKeys = false;
    expectProblem(await pair.call("/mcp", callOf(key, "get_status")), "unavailable");
    expect(pair.received).toEqual([]);
  });
});
