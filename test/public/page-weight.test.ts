import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { listComponentsOfPage } from "../../src/features/components/store";
import { ofMonitors } from "../../src/features/monitors/checks-store";
import { listAllPages } from "../../src/features/pages/store";
import { CLI_ACTOR } from "../../src/base/actor";
import { COMPONENT_STATUSES } from "../../src/base/status";
import { DAY_MS, HOUR_MS, toIso } from "../../src/base/time";
import { createTestApp, type TestApp } from "../support/app";
import { readHtml } from "../support/html";
import { addMonitor } from "../support/monitor-store";
import { createComponent, createGroup, updateComponent } from "../support/examined";

const KIB = 1_024;
const COMPONENTS = 20;

/** A page of 20 components, known for a year, each with as many bad days of its own. */
async function createSite(badDays: number): Promise<TestApp> {
  const app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } });
  const { page } = await app.page({ slug: "acme", name: "Acme Cloud" }, []);
  const ids = await app.ctx.db.write((tx) =>
    Array.from({ length: COMPONENTS }, (_, number) => {
      const place = { position: number, managedBy: null };
      const group =
        number % 5 === 0
          ? createGroup(app.ctx, tx, page, { name: `Region ${number}` }, place, CLI_ACTOR)
          : undefined;
      const input = { name: `Service number ${number}`, start_date: "2025-01-01" };
      const at = { ...place, groupId: group?.id ?? null };
      return createComponent(app.ctx, tx, page, input, at, CLI_ACTOR).id;
    }),
  );
  const { value: key } = await app.createKey({ scopes: ["write:incidents"], rate_limit: 100_000 });
  const now = app.clock.now();
  for (let day = 1; day <= badDays; day += 1) {
    // Each day hits other components, for another time, in another way.
    const hit = ids.filter((_, number) => (number * 7 + day * 3) % 4 === 0);
    const from = now - Math.floor((day / badDays) * 88) * DAY_MS - (day % 10) * HOUR_MS;
    const json = {
      page: "acme",
      name: `Trouble number ${day}`,
      body: "We look into it.",
      components: Object.fromEntries(
        hit.map((id, place) => [id, COMPONENT_STATUSES[2 + ((place + day) % 3)]]),
      ),
      started_at: toIso(from),
      resolved_at: toIso(from + (day * 13 + 5) * 60_000),
    };
    const { status } = await app.call("/api/v1/incidents", { method: "POST", key, json });
    expect(status).toBe(201);
  }
  return app;
}

/** Has each component watched by a monitor of its own, for a day of hours none of which is like another. */
async function addLatency({ ctx, clock }: TestApp): Promise<void> {
  const present = clock.now() - (clock.now() % HOUR_MS);
  await ctx.db.write((tx) => {
    for (const page of listAllPages(tx, {})) {
      for (const { id, name } of listComponentsOfPage(tx, { pageId: page.id })) {
        updateComponent(ctx, tx, id, { show_latency: true }, CLI_ACTOR);
        const added = { name, componentIds: [id], createdAt: present - DAY_MS };
        const { num } = addMonitor(ctx, tx, added);
        for (let hour = 1; hour <= 24; hour += 1) {
          const latency = 20 + ((hour * num * 7_919) % 977);
          ofMonitors.saveRollup(tx, {
            monitorNum: num,
            size: HOUR_MS,
            at: present - hour * HOUR_MS,
            checks: 60,
            failures: 0,
            answers: 60,
            latencySum: 60 * latency,
            latencyMin: latency,
            latencyMax: latency,
            sketch: null,
          });
        }
      }
    }
  });
}

async function weigh(app: TestApp): Promise<{ html: number; all: number }> {
  const { text } = await app.call("/status/acme");
  const page = readHtml(text);
  expect(page.texts(".component strong")).toHaveLength(COMPONENTS);
  const files = [
    ...page.attributes("script[src]", "src"),
    ...page.attributes('link[rel="stylesheet"]', "href"),
    ...page.attributes("img", "src"),
  ];
  // As answers are compressed.
  let all = Bun.gzipSync(text, { library: "libdeflate" }).length;
  const html = all;
  for (const file of files) all += gzipSync((await app.call(file)).text).length;
  return { html, all };
}

describe("the weight of a page of 20 components with 90 days each, compressed", () => {
  test.each([0, 5, 30])(
    "a page of 20 components is at most 15 KiB, and 30 KiB with its resources: %d bad days",
    async (badDays) => {
      await using app = await createSite(badDays);
      const { html, all } = await weigh(app);
      expect(html).toBeLessThan(15 * KIB);
      expect(all).toBeLessThan(30 * KIB);
    },
    300_000,
  );

  test("a page of 20 components with response times is at most 15 KiB, and 30 KiB with its resources", async () => {
    await using app = await createSite(30);
    await addLatency(app);
    const { text } = await app.call("/status/acme");
    expect(readHtml(text).texts(".latency")).toHaveLength(COMPONENTS);
    expect(readHtml(text).texts(".latency")[0]).toContain("24 hours");
    const { html, all } = await weigh(app);
    expect(html).toBeLessThan(15 * KIB);
    expect(all).toBeLessThan(30 * KIB);
  }, 300_000);

  test("a page is sent compressed to a browser that accepts gzip, and its script is at most 5 KiB", async () => {
    await using app = await createSite(0);
    const headers = { "accept-encoding": "gzip" };
    const answer = await app.call("/status/acme", { headers });
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    const { html, all } = await weigh(app);
    expect(all - html).toBeLessThan(5 * KIB);
  });
});
