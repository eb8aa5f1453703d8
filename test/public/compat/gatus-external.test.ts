import { describe, expect, test } from "bun:test";
import { keepKey } from "../../../src/features/compat/store";
import { readGoDuration } from "../../../src/base/go-duration";
import type { PageInput } from "../../../src/features/pages/wire";
import { chargeOf } from "../../support/app";
import { createCompatSite } from "../../support/compat-site";
import { visit } from "../../support/domains";
import { importJob } from "../../support/imported-jobs";
import type { MonitorApi } from "../../support/monitor-api";

const TOKEN = "potato with spaces = and signs!";
const PATH = "/api/v1/endpoints/core_backup/external";

function report(api: MonitorApi, query: string, authorization = `Bearer ${TOKEN}`, path = PATH) {
  return api.app.call(`${path}${query}`, { method: "POST", headers: { authorization } });
}

async function createJob(input?: Partial<PageInput>) {
  const api = await createCompatSite(input);
  const id = await importJob(api, [{ kind: "gatus", value: `core_backup\0${TOKEN}` }]);
  const componentId = api.components["API"] ?? "";
  await api.app.ctx.db.write((tx) => void keepKey(tx, { componentId, key: "core_backup" }));
  return { api, id };
}

describe("results of external endpoints of Gatus", () => {
  test.each([
    ["?success=true", { outcome: "ok", message: null, latencyMs: null }],
    ["?success=true&duration=1.5s&error=x", { outcome: "ok", message: null, latencyMs: 1_500 }],
    ["?success=false&error=disk%20full", { outcome: "failed", message: "disk full" }],
    ["?success=false&error=a%00b", { outcome: "failed", message: "ab" }],
    ["?success=false&duration=", { outcome: "failed", message: null, latencyMs: null }],
  ])("the query %s is recorded", async (query, expected) => {
    const { api, id } = await createJob();
    await using _ = api;
    const answer = await report(api, query);
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect(chargeOf(answer)).toBe("heartbeat 119");
    expect(api.heartbeats).toMatchObject([{ id, ...expected }]);
  });

  test.each([
    ["", `Bearer ${TOKEN}`, PATH, 400, "missing or invalid success query parameter"],
    ["?success=1", "", PATH, 400, "missing or invalid success query parameter"],
    ["?success=true", "", PATH, 401, "invalid Authorization header"],
    ["?success=true", TOKEN, PATH, 401, "invalid Authorization header"],
    ["?success=true", `bearer ${TOKEN}`, PATH, 401, "invalid Authorization header"],
    ["?success=true", "Bearer x", PATH, 401, "invalid token"],
    ["?success=true&duration=x", "Bearer x", PATH, 401, "invalid token"],
    ["?success=true", `Bearer ${TOKEN}`, PATH.replace("backup", "other"), 404, "not found"],
    [
      "?success=true&duration=5",
      `Bearer ${TOKEN}`,
      PATH,
      400,
      'invalid duration: time: missing unit in duration "5"',
    ],
  ])("%s with “%s” at %s is answered %d %s", async (query, header, path, status, text) => {
    const { api } = await createJob();
    await using _ = api;
    const answer = await report(api, query, header, path);
    expect([answer.status, answer.text]).toEqual([status, text]);
    if (header !== `Bearer ${TOKEN}` || path !== PATH) {
      expect(chargeOf(answer)).toStartWith("public");
    }
    expect(api.heartbeats).toEqual([]);
  });

  test.each<[string, Partial<PageInput>]>([
    ["private", { compat: ["gatus"], visibility: "private" }],
    ["not for clients of Gatus", { compat: ["uptime-kuma"] }],
  ])("a key of a page that is %s cannot be told from an unknown one", async (_name, input) => {
    const { api, id } = await createJob(input);
    await using _ = api;
    const answer = await report(api, "?success=true", "Bearer x");
    expect([answer.status, answer.text]).toEqual([404, "not found"]);
    expect(chargeOf(answer)).toStartWith("public");
    expect((await report(api, "?success=true")).status).toBe(200);
    expect(api.heartbeats).toMatchObject([{ id }]);
  });

  test("endpoints that share a token are told apart by their keys", async () => {
    const { api } = await createJob();
    await using _ = api;
    const other = await importJob(api, [{ kind: "gatus", value: `core_other\0${TOKEN}` }], {
      name: "Other",
    });
    await report(api, "?success=true", `Bearer ${TOKEN}`, PATH.replace("backup", "other"));
    expect(api.heartbeats).toMatchObject([{ id: other }]);
  });

  test("results are accepted below every base address and on custom domains", async () => {
    const { api } = await createJob();
    await using _ = api;
    for (const base of ["/compat/gatus", "/compat/gatus/acme"]) {
      expect((await report(api, "?success=true", undefined, base + PATH)).status).toBe(200);
    }
    await api.app.page({ slug: "own", name: "Own", custom_domains: ["status.example"] });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const path = `${PATH}?success=true`;
    const answer = await visit(api.app, "status.example", path, { method: "POST", headers });
    expect(answer.status).toBe(200);
    expect(api.heartbeats).toHaveLength(3);
  });
});

describe("durations of Go", () => {
  test.each<[string, number]>([
    ["0", 0],
    ["10s", 10_000],
    ["1h2m3.5s", 3_723_500],
    [".5ms", 0.5],
    ["-1m", -60_000],
    ["+250us", 0.25],
    ["7µs", 0.007],
    ["2562047h", 9_223_369_200_000],
  ])("%s is %d ms", (text, ms) => {
    expect(readGoDuration(text)).toEqual({ ms: expect.closeTo(ms, 9) });
  });

  test.each([
    ["", 'time: invalid duration ""'],
    ["s", 'time: invalid duration "s"'],
    ["1.2.3s", 'time: missing unit in duration "1.2.3s"'],
    ["5", 'time: missing unit in duration "5"'],
    ["5x", 'time: unknown unit "x" in duration "5x"'],
    ["1s 2s", 'time: unknown unit "s " in duration "1s 2s"'],
    ["2562048h", 'time: invalid duration "2562048h"'],
    [`${"9".repeat(400)}h`, `time: invalid duration "${"9".repeat(400)}h"`],
  ])("“%s” is rejected as in Go", (text, error) => {
    expect(readGoDuration(text)).toEqual({ error });
  });
});
