import { describe, expect, test } from "bun:test";
import { getMonitorRecord } from "../../../src/features/monitors/records";
import { expectProblem, versionOf } from "../../support/app";
import { createMonitorApi, type MonitorApi } from "../../support/monitor-api";

const SECRETS = {
  config: {
    url: "https://shop.example.com/",
    method: "POST",
    headers: { Authorization: "Basic c2VjcmV0", "X-Region": "eu" },
    body: "hush",
  },
};

/** Returns the stored configuration of a monitor, secrets included. */
function keptConfig(api: MonitorApi, id: string) {
  return getMonitorRecord(api.app.ctx.db, id).row.config;
}

describe("PATCH /monitors/{id}", () => {
  test("PATCH of a monitor changes the given fields and keeps the others, secrets included", async () => {
    await using api = await createMonitorApi();
    const before = await api.create(SECRETS);
    await api.app.clock.advance(1_000);
    const answer = await api.patch(before.id, {
      name: "Front",
      interval_seconds: 30,
      config: { follow_redirects: false },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...before,
      name: "Front",
      interval_seconds: 30,
      config: { ...before.config, follow_redirects: false },
      version: 2,
      updated_at: "2026-03-10T12:00:01.000Z",
    });
    expect(versionOf(answer)).toBe(2);
    expect(keptConfig(api, before.id)).toEqual({ ...SECRETS.config, follow_redirects: false });
    expect(api.app.audit().at(-1)).toMatchObject({
      action: "monitor.update",
      summary: "Changed the monitor “Front”: name, configuration, interval",
    });
  });

  test("PATCH of a monitor clears an optional field with null", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ ...SECRETS, degraded_after_ms: 500 });
    const { body } = await api.patch(id, { degraded_after_ms: null, config: { body: null } });
    expect(body).toMatchObject({ degraded_after_ms: null, config: { has_body: false } });
    expect(keptConfig(api, id)).not.toHaveProperty("body");
  });

  test("PATCH of a monitor replaces one secret and keeps the others", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create(SECRETS);
    const headers = { "x-region": "us", Authorization: null };
    const { body } = await api.patch(id, { config: { headers } });
    expect(body.config.header_names).toEqual(["x-region"]);
    expect(keptConfig(api, id)).toMatchObject({ headers: { "x-region": "us" }, body: "hush" });
  });

  test("PATCH of a monitor to another server requires its secrets again", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create(SECRETS);
    const before = api.written();
    const url = "https://elsewhere.example.com/";
    const { errors } = expectProblem(await api.patch(id, { config: { url } }), "validation_failed");
    expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "#/config/headers",
      "#/config/body",
    ]);
    expect(api.written()).toEqual(before);
    const config = { url, headers: null, body: "new" };
    expect((await api.patch(id, { config })).body.config).toMatchObject({ url, header_names: [] });
  });

  test("PATCH of a monitor to its current values writes nothing and keeps the version", async () => {
    await using api = await createMonitorApi();
    const components = [api.components["API"], api.components["Website"]];
    const { id } = await api.create({ ...SECRETS, component_ids: components });
    const before = api.written();
    const same = { name: "Shop", component_ids: components.toReversed(), config: { body: "hush" } };
    expect((await api.patch(id, same)).body.version).toBe(1);
    expect(api.written()).toEqual(before);
  });

  test("a stale If-Match is precondition_failed for every change of a monitor", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ type: "push", config: {} });
    const stale = { "if-match": '"7"' };
    const before = api.written();
    expectProblem(await api.patch(id, { name: "Front" }, stale), "precondition_failed");
    for (const verb of ["/pause", "/resume", "/rotate-token", ""]) {
      const method = verb === "" ? "DELETE" : "POST";
      const answer = await api.call(`/${id}${verb}`, { method, headers: stale });
      expectProblem(answer, "precondition_failed");
    }
    expect(api.written()).toEqual(before);
    expect((await api.patch(id, { name: "Front" }, { "if-match": '"1"' })).status).toBe(200);
    const weak = (version: number) => ({ "if-match": `W/"${version}"` });
    expectProblem(await api.patch(id, { name: "Shop" }, weak(1)), "precondition_failed");
    expect((await api.patch(id, { name: "Shop" }, weak(2))).status).toBe(200);
  });
});
