import { describe, expect, test } from "bun:test";
import { ofPostOnly } from "../../../src/features/monitors/tokens";
import { chargeOf } from "../../support/app";
import { visit } from "../../support/domains";
import { importJob } from "../../support/imported-jobs";
import { createMonitorApi, type MonitorApi } from "../../support/monitor-api";

const UUID = "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278";
const RID = "123e4567-e89b-12d3-a456-426614174000";
const KEY = "fqOOd6-F4MMNuCEnzTU01w";
const SLUG = `${KEY}/db-backup`;

async function createJob() {
  const api = await createMonitorApi();
  const id = await importJob(api, [
    { kind: "healthchecks", value: UUID },
    { kind: "healthchecks", value: SLUG },
  ]);
  return { api, id };
}

async function expectText(api: MonitorApi, path: string, status: number, text: string) {
  const answer = await api.app.call(path);
  expect(`${path}: ${answer.status} ${answer.text}`).toBe(`${path}: ${status} ${text}`);
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.headers.get("content-type")).toBe("text/plain;charset=utf-8");
  return answer;
}

describe("Healthchecks' ping addresses", () => {
  test.each([
    ["", { outcome: "ok", latencyMs: null }],
    ["/start", { kind: "start" }],
    ["/log", { kind: "log" }],
    ["/fail", { outcome: "failed" }],
    ["/0", { outcome: "ok", exitCode: 0 }],
    ["/1", { outcome: "failed", exitCode: 1 }],
    ["/255", { outcome: "failed", exitCode: 255 }],
    ["/007", { outcome: "failed", exitCode: 7 }],
  ])("the signal “%s” is recorded by UUID and by slug", async (signal, expected) => {
    const { api, id } = await createJob();
    await using _ = api;
    for (const address of [UUID, UUID.toUpperCase(), SLUG]) {
      const { headers } = await expectText(api, `/ping/${address}${signal}`, 200, "OK");
      expect(headers.get("ping-body-limit")).toBe("10000");
    }
    expect(api.heartbeats).toMatchObject(Array.from({ length: 3 }, () => ({ id, ...expected })));
  });

  test("calls with another method are answered and do not count, if those by POST alone do", async () => {
    await using api = await createMonitorApi();
    const tokens = [UUID, SLUG].map((value) => ofPostOnly({ kind: "healthchecks", value }));
    const id = await importJob(api, tokens);
    for (const address of [UUID, SLUG]) {
      for (const method of ["GET", "HEAD", "PUT"]) {
        const { status } = await api.app.call(`/ping/${address}/fail`, { method });
        expect(status).toBe(200);
      }
      expect((await api.app.call(`/ping/${address}/2`, { method: "POST" })).text).toBe("OK");
    }
    const posted = { id, outcome: "failed", exitCode: 2 };
    expect(api.heartbeats).toMatchObject([posted, posted]);
    await expectText(api, `/ping/${UUID}/x`, 404, "not found");
  });

  test.each<[words: object, path: string, body: string, expected: object]>([
    [{ failure: ["ERROR"] }, "", "an ERROR occurred", { outcome: "failed" }],
    [{ failure: ["ERROR"] }, "", "an error occurred", { kind: "log" }],
    [{ failure: ["ERROR"], otherwise: "fail" }, "", "fine", { outcome: "failed" }],
    [{ success: ["OK", "FINE"] }, "", "all FINE", { outcome: "ok" }],
    [{ success: ["OK"] }, "/fail", "OK", { outcome: "ok" }],
    [{ success: ["OK"] }, "/7", "OK", { outcome: "ok" }],
    [{ success: ["OK"] }, "", "", { kind: "log" }],
    [{ start: ["BEGIN"], success: ["END"] }, "", "BEGIN", { kind: "start" }],
    [{ start: ["BEGIN"], success: ["END"] }, "", "BEGIN END", { outcome: "ok" }],
    [{ success: ["OK"], failure: ["ERR"] }, "", "OK ERR", { outcome: "failed" }],
    [{ success: ["готово"] }, "", "всё готово", { outcome: "ok" }],
    [{ success: ["OK"] }, "", "\udc00 OK", { outcome: "ok" }],
  ])(
    "with the words %o, a call to “%s” with “%s” means %o",
    async (words, path, body, expected) => {
      await using api = await createMonitorApi();
      const tokens = [{ kind: "healthchecks", value: UUID } as const];
      const id = await importJob(api, tokens, { config: { body_words: words } });
      const { text } = await api.app.call(`/ping/${UUID}${path}`, { method: "POST", raw: body });
      expect(text).toBe("OK");
      expect(api.heartbeats).toMatchObject([{ id, ...expected }]);
    },
  );

  test("the run is named by rid, with or without hyphens", async () => {
    const { api } = await createJob();
    await using _ = api;
    await expectText(api, `/ping/${UUID}/start?rid=${RID}`, 200, "OK");
    await expectText(api, `/ping/${SLUG}?rid=${RID.replaceAll("-", "").toUpperCase()}`, 200, "OK");
    await expectText(api, `/ping/${UUID}/`, 200, "OK");
    expect(api.heartbeats.map(({ rid }) => rid)).toEqual([RID, RID, ""]);
  });

  test("the body of any method and media type is the message, cut to 300 characters", async () => {
    const { api } = await createJob();
    await using _ = api;
    const path = `/ping/${UUID}/1`;
    const send = async (method: string, raw: string | Uint8Array<ArrayBuffer>, type: string) => {
      const headers = { "content-type": type };
      expect((await api.app.call(path, { method, raw, headers })).text).toBe("OK");
      return api.heartbeats.at(-1)?.message;
    };
    expect(await send("POST", " disk full\n", "application/x-www-form-urlencoded")).toBe(
      "disk full",
    );
    expect(await send("PUT", `{"a": 1}`, "application/json")).toBe(`{"a": 1}`);
    expect(await send("PATCH", "é".repeat(9_000), "text/plain")).toBe("é".repeat(300));
    expect(await send("POST", new Uint8Array([0xff, 0xfe]), "image/png")).toBeNull();
    const secret = "b".repeat(43);
    expect(await send("POST", `token ${secret}`, "text/plain")).toBe("token [redacted]");
    expect((await api.app.call(path, { method: "DELETE" })).text).toBe("OK");
    expect((await api.app.call(path, { method: "HEAD" })).status).toBe(200);
    expect(api.heartbeats).toHaveLength(7);
  });

  test.each([
    [`/ping/${UUID}/256`, 400, "invalid url format"],
    [`/ping/${SLUG}/99999`, 400, "invalid url format"],
    [`/ping/${UUID}?rid=x`, 400, "invalid uuid format"],
    [`/ping/${UUID}?rid=`, 400, "invalid uuid format"],
    [`/ping/${UUID}/stop`, 404, "not found"],
    [`/ping/${UUID}/start/x`, 404, "not found"],
    [`/ping/${RID}`, 404, "not found"],
    [`/ping/${RID}/256`, 404, "not found"],
    [`/ping/${KEY}/nothing?create=1`, 404, "not found"],
    [`/ping/${KEY}`, 404, "not found"],
    [`/ping/x/${UUID}`, 404, "not found"],
  ])("%s is answered %d %s, and nothing is recorded", async (path, status, text) => {
    const { api } = await createJob();
    await using _ = api;
    await expectText(api, path, status, text);
    expect(api.heartbeats).toEqual([]);
  });

  test("unknown addresses are charged to the client, each known one has a bucket of its own", async () => {
    const { api } = await createJob();
    await using _ = api;
    expect(chargeOf(await api.app.call(`/ping/${RID}`))).toStartWith("public");
    expect(chargeOf(await api.app.call(`/ping/${UUID}`))).toBe("heartbeat 119");
    expect(chargeOf(await api.app.call(`/ping/${UUID}/start`))).toBe("heartbeat 118");
    expect(chargeOf(await api.app.call(`/ping/${SLUG}`))).toBe("heartbeat 119");
  });

  test("pings to a paused monitor are answered OK", async () => {
    const { api, id } = await createJob();
    await using _ = api;
    await api.call(`/${id}/pause`, { method: "POST" });
    await expectText(api, `/ping/${UUID}`, 200, "OK");
  });

  test("a token that ends while the body arrives is not found, and nothing is recorded", async () => {
    const { api, id } = await createJob();
    await using _ = api;
    const raw = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await api.call(`/${id}`, { method: "DELETE" });
        controller.enqueue(new TextEncoder().encode("late"));
        controller.close();
      },
    });
    const headers = { "transfer-encoding": "chunked" };
    const answer = await api.app.call(`/ping/${UUID}`, { method: "POST", raw, headers });
    expect([answer.status, answer.text]).toEqual([404, "not found"]);
    expect(api.heartbeats).toEqual([]);
  });

  test("custom domains accept pings", async () => {
    const { api } = await createJob();
    await using _ = api;
    await api.app.page({ slug: "own", name: "Own", custom_domains: ["status.example"] });
    expect((await visit(api.app, "status.example", `/ping/${UUID}`)).text).toBe("OK");
  });
});
