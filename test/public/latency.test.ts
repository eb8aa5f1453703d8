import { describe, expect, test } from "bun:test";
import { ofMonitors } from "../../src/features/monitors/checks-store";
import { listAllMonitors } from "../../src/features/monitors/store";
import { CLI_ACTOR } from "../../src/base/actor";
import { HOUR_MS, MINUTE_MS } from "../../src/base/time";
import type { Answer } from "../support/app";
import { readHtml } from "../support/html";
import { createMonitorApi, type MonitorApi } from "../support/monitor-api";
import { check } from "../support/monitor-store";
import { updateComponent } from "../support/examined";

interface LatencySite extends MonitorApi {
  show(name: string, isShown: boolean): Promise<void>;
  /** Writes results of a monitor down, one a minute, the last just now. */
  answered(id: string, latencies: (number | null)[]): Promise<void>;
  page(): Promise<ReturnType<typeof readHtml>>;
}

async function createSite(): Promise<LatencySite> {
  const api = await createMonitorApi({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } });
  const { app, components } = api;
  return {
    ...api,
    show: (name, isShown) =>
      app.ctx.db.write((tx) => {
        const input = { show_latency: isShown };
        updateComponent(app.ctx, tx, components[name] ?? "", input, CLI_ACTOR);
      }),
    answered: (id, latencies) =>
      app.ctx.db.write((tx) => {
        const num = listAllMonitors(tx, {}).find(({ monitor }) => monitor.id === id)?.monitor.num;
        for (const [index, latencyMs] of latencies.entries()) {
          const at = app.clock.now() - (latencies.length - 1 - index) * MINUTE_MS;
          ofMonitors.insertCheck(tx, check(num ?? 0, at, latencyMs));
        }
      }),
    page: async () => readHtml((await app.call("/status/acme")).text),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

const linesOf = (page: Awaited<ReturnType<LatencySite["page"]>>) => page.texts(".latency");

describe("the response time of a component on its page", () => {
  test("the response time is shown as chart and text for components with show_latency only", async () => {
    await using site = await createSite();
    for (const name of ["API", "Website"]) {
      const { id } = await site.create({ name, component_ids: [site.components[name]] });
      await site.answered(id, name === "API" ? [80, null, 100, 0, 220] : [10]);
    }
    expect(linesOf(await site.page())).toEqual([]);
    await site.show("API", true);
    const page = await site.page();
    expect(linesOf(page)).toEqual(["Response time, 5 checks: 100 ms"]);
    expect(page.attributes(".latency svg", "role")).toEqual(["img"]);
    expect(page.attributes(".latency svg", "aria-label")).toEqual([
      "100 ms on average, from 0 ms to 220 ms, a bar each check",
    ]);
    // A bar for each answer, also for the quickest, and a dot where there was none.
    const [bars = "", dots = ""] = page.attributes(".latency svg path", "d");
    expect(bars.match(/M/g)).toHaveLength(4);
    expect(dots).toBe("M4 16v-1");
    await site.show("API", false);
    expect(linesOf(await site.page())).toEqual([]);
  });

  test("show_latency is a setting of the component in the API", async () => {
    await using site = await createSite();
    const key = await site.app.keyWith("read:status");
    const read = async (path: string): Promise<Answer["body"]> =>
      (await site.app.call(`/api/v1/${path}`, { key })).body;
    const id = site.components["API"] ?? "";
    expect(await read(`components/${id}`)).toMatchObject({ show_latency: false, version: 1 });
    await site.show("API", true);
    expect(await read(`components/${id}`)).toMatchObject({ show_latency: true, version: 2 });
    const shown = (await read("status/acme")).components.map(
      (one: { show_latency: boolean }) => one.show_latency,
    );
    expect(shown).toEqual([true, false]);
  });

  test("the response time is that of the oldest monitor with a response, never of a push monitor", async () => {
    await using site = await createSite();
    await site.show("API", true);
    const component_ids = [site.components["API"]];
    const job = await site.create({ type: "push", name: "Job", config: {}, component_ids });
    const [first, second] = [
      await site.create({ name: "One", component_ids }),
      await site.create({ name: "Two", component_ids }),
    ];
    await site.answered(job.id, [60_000]);
    await site.app.clock.advance(5 * MINUTE_MS);
    expect(linesOf(await site.page())).toEqual([]);
    await site.answered(first.id, [null, null]);
    await site.answered(second.id, [12_345]);
    await site.app.clock.advance(5 * MINUTE_MS);
    expect(linesOf(await site.page())).toEqual(["Response time, 1 check: 12.3 s"]);
    await site.answered(first.id, [50]);
    await site.app.clock.advance(5 * MINUTE_MS);
    expect(linesOf(await site.page())).toEqual(["Response time, 3 checks: 50 ms"]);
  });

  test("the response time is read again after five minutes, with the uptime", async () => {
    await using site = await createSite();
    await site.show("API", true);
    const { id } = await site.create({ component_ids: [site.components["API"]] });
    await site.answered(id, [40]);
    const average = async () =>
      linesOf(await site.page())
        .join()
        .replace(/.*: /, "");
    expect(await average()).toBe("40 ms");
    await site.app.clock.advance(MINUTE_MS);
    await site.answered(id, [60]);
    expect(await average()).toBe("40 ms");
    await site.app.clock.advance(4 * MINUTE_MS);
    expect(await average()).toBe("50 ms");
  });

  test("the response time disappears at once with its monitor", async () => {
    await using site = await createSite();
    await site.show("API", true);
    const { id } = await site.create({ component_ids: [site.components["API"]] });
    await site.answered(id, [40]);
    await site.app.clock.advance(HOUR_MS);
    expect(linesOf(await site.page())).toHaveLength(1);
    await site.call(`/${id}`, { method: "DELETE" });
    expect(linesOf(await site.page())).toEqual([]);
  });
});
