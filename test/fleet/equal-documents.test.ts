import { describe, expect, test } from "bun:test";
import { createApp } from "../../src/app";
import { ofMonitors } from "../../src/features/monitors/checks-store";
import { createContext } from "../../src/installation";
import { CLI_ACTOR } from "../../src/base/actor";
import { systemRandom } from "../../src/base/hash";
import { MINUTE_MS, SECOND_MS } from "../../src/base/time";
import { createTestApp, readAnswer, requestOf } from "../support/app";
import { FLEET_SECRET } from "../support/fleet/replica-pair";
import { addMonitor, check } from "../support/monitor-store";
import { updateComponent } from "../support/examined";

const FLEET = {
  ALLCLEAR_FLEET_STORE: "file:///nowhere",
  ALLCLEAR_FLEET_SECRET: FLEET_SECRET,
  ALLCLEAR_PUBLIC_RATE_LIMIT: "100000",
};

/** A primary and two replicas in one process, which read one database and make their documents by themselves. */
async function createNodes(env: Record<string, string> = FLEET) {
  const primary = await createTestApp({ env });
  const { clock } = primary;
  const { components } = await primary.page({ slug: "acme" }, ["API", "Website", "Docs"]);
  const key = await primary.keyWith("write:incidents", "write:maintenance");
  const replicas = [1, 2].map(() => {
    const { config, db, log } = primary.ctx;
    const ctx = createContext({ config, db, clock, log, random: systemRandom });
    return { ctx, app: createApp(ctx) };
  });
  const nodes = [primary, ...replicas];
  const monitor = await primary.ctx.db.write((tx) => {
    updateComponent(primary.ctx, tx, components["API"] ?? "", { show_latency: true }, CLI_ACTOR);
    const componentIds = [components["API"] ?? ""];
    const createdAt = clock.now();
    return addMonitor(primary.ctx, tx, { name: "API", componentIds, createdAt });
  });

  return {
    components,
    clock,
    async post(path: string, json: object) {
      const answer = await primary.call(`/api/v1${path}`, { method: "POST", key, json });
      if (answer.status !== 201) throw new Error(answer.text);
      for (const { ctx } of replicas) ctx.signals.databaseChangedElsewhere.emit();
      return answer.body as { id: string };
    },
    /** Stores a result of a check that began some time ago. */
    record: (latencyMs: number, agoMs = 0) =>
      primary.ctx.db.write((tx) => {
        ofMonitors.insertCheck(tx, check(monitor.num, clock.now() - agoMs, latencyMs));
      }),
    /** Reads a document from a node. */
    async read(node: number, path: string) {
      const { ctx, app } = nodes[node] ?? primary;
      const answer = await readAnswer(
        await app.handle(requestOf(ctx, path, {}), () => "203.0.113.7"),
      );
      expect([path, answer.status]).toEqual([path, 200]);
      return { text: answer.text, etag: answer.headers.get("etag") };
    },
    async [Symbol.asyncDispose]() {
      for (const { app } of replicas) app.usage.stop();
      await primary[Symbol.asyncDispose]();
    },
  };
}

type Nodes = Awaited<ReturnType<typeof createNodes>>;

const documentsOf = (components: Record<string, string>, incident: string, maintenance: string) => [
  "/",
  "/status/acme",
  "/status/acme/version",
  "/status/acme/history",
  "/status/acme/incidents",
  `/status/acme/incidents/${incident}`,
  `/status/acme/maintenance/${maintenance}`,
  "/status/acme/embed",
  "/status/acme/summary.json",
  "/status/acme/widget.js",
  "/status/acme/history.atom",
  "/status/acme/feed.rss",
  "/status/acme/calendar.ics",
  "/status/acme/badge.svg",
  "/status/acme/badge.json",
  ...Object.values(components).map((id) => `/status/acme/badge/${id}.svg`),
  "/status/acme/api/v2/summary.json",
  "/status/acme/api/v2/components.json",
  "/status/acme/api/v2/incidents.json",
  "/status/acme/api/v2/scheduled-maintenances.json",
];

/** Requires that all nodes answer with equal bytes and entity tags. */
async function expectEqual({ read }: Nodes, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const own = await read(0, path);
    const others = await Promise.all([1, 2].map((node) => read(node, path)));
    for (const other of others) expect([path, other.text]).toEqual([path, own.text]);
    expect(own.etag).toMatch(/^"/);
    for (const other of others) expect([path, other.etag]).toEqual([path, own.etag]);
  }
}

describe("public documents of a fleet", () => {
  test("are equal on all nodes, which made them at different times before and after changes", async () => {
    await using nodes = await createNodes();
    const { clock, components, post, read, record } = nodes;
    // Each component has a history, and the monitor has results.
    for (let minute = 0; minute < 30; minute++) {
      await record(100 + minute);
      await clock.advance(MINUTE_MS);
    }
    const page = { page: "acme", body: "Details." };
    const statuses = { [components["Website"] ?? ""]: "partial_outage" };
    const first = await post("/incidents", { ...page, name: "Slow", components: statuses });
    const planned = await post("/maintenance", {
      ...page,
      name: "Upgrade",
      components: [],
      scheduled_for: "2026-03-10T14:00:00Z",
      scheduled_until: "2026-03-10T15:00:00Z",
    });
    const paths = documentsOf(components, first.id, planned.id);

    for (let round = 0; round < 3; round++) {
      // One node makes everything early, one after further results, and one after a change of a component.
      await clock.advance(7 * SECOND_MS);
      for (const path of paths) await read(round, path);
      await record(300, 20 * SECOND_MS);
      await clock.advance(61 * SECOND_MS);
      for (const path of paths) await read((round + 1) % 3, path);
      await expectEqual(nodes, paths);
      const api = { [components["API"] ?? ""]: "degraded_performance" };
      await post("/incidents", { ...page, name: "Slower", components: api });
      await record(400);
      for (const path of paths) await read(round, path);
      await clock.advance(93 * SECOND_MS);
      await expectEqual(nodes, paths);
      // The next round begins after the nodes have dropped all documents.
      await clock.advance(5 * MINUTE_MS);
    }
  });

  test("show the same time on all nodes: that of the last change, or of the last five minutes", async () => {
    await using nodes = await createNodes();
    const { clock, post, read } = nodes;
    const shown = async (node: number) =>
      /As of <time datetime="([^"]+)"/i.exec((await read(node, "/status/acme")).text)?.[1];
    await clock.advance(6 * MINUTE_MS);
    expect(await shown(0)).toBe("2026-03-10T12:05:00.000Z");
    await clock.advance(MINUTE_MS);
    expect(await shown(1)).toBe("2026-03-10T12:05:00.000Z");
    await post("/incidents", { page: "acme", name: "Down", body: "Details." });
    await clock.advance(MINUTE_MS);
    for (const node of [0, 1, 2]) expect(await shown(node)).toBe("2026-03-10T12:07:00.000Z");
    await clock.advance(2 * MINUTE_MS - 1);
    expect(await shown(0)).toBe("2026-03-10T12:07:00.000Z");
    await clock.advance(1);
    expect(await shown(0)).toBe("2026-03-10T12:10:00.000Z");
  });

  test("one machine shows the time at which it made the page", async () => {
    await using nodes = await createNodes({ ALLCLEAR_PUBLIC_RATE_LIMIT: "100000" });
    await nodes.clock.advance(6 * MINUTE_MS);
    const { text } = await nodes.read(0, "/status/acme");
    expect(text).toContain('datetime="2026-03-10T12:06:00.000Z"');
  });
});
