import { expect, test } from "bun:test";
import { createMonitoring } from "../../src/features/monitors/engine/engine";
import { SECOND_MS } from "../../src/base/time";
import { createTestApp } from "./app";
import { settle } from "./clock";
import { createIncidentDashboard, hiddenIn, incidentScreen } from "./incident-dashboard";
import { createSendingSite } from "./sending-site";

/**
 * The five ways that a reader follows through the code, for `ways.ts`. Each test does the same as preparation with
 * every number of times, and then the way itself so often.
 */
const TIMES = Number(process.env["ALLCLEAR_WAY_TIMES"]);

test("a status read by a key", async () => {
  await using app = await createTestApp();
  const key = await app.keyWith("read:status");
  await app.page({ slug: "acme" });
  for (let read = 0; read <= TIMES; read++) {
    expect((await app.call("/api/v1/status/acme", { key })).status).toBe(200);
  }
});

test("a new incident", async () => {
  await using app = await createTestApp();
  const key = await app.keyWith("write:incidents");
  const { page, components } = await app.page({ slug: "acme" }, ["API"]);
  for (let incident = 0; incident <= TIMES; incident++) {
    const json = {
      page: page.slug,
      name: `Errors ${incident}`,
      body: "We look.",
      components: { [components["API"] ?? ""]: "partial_outage" },
    };
    const answer = await app.call("/api/v1/incidents", { key, method: "POST", json });
    expect(answer.status).toBe(201);
  }
});

test("a check", async () => {
  let checks = 0;
  using target = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      checks += 1;
      return new Response("Well");
    },
  });
  let engine: ReturnType<typeof createMonitoring> | undefined;
  await using app = await createTestApp({
    monitoring: (ctx) => {
      engine = createMonitoring(ctx);
      return engine;
    },
  });
  const key = await app.keyWith("manage:monitors");
  const json = {
    type: "http",
    name: "Local",
    interval_seconds: 60,
    config: { url: `http://127.0.0.1:${target.port}/` },
  };
  await app.call("/api/v1/monitors", { key, method: "POST", json });
  engine?.start();
  // The time of the first check within the interval follows from the id. Results are written a second later.
  let seconds = 0;
  for (let passed = 0; passed < 2; seconds++) {
    await app.clock.advance(SECOND_MS);
    while ((engine?.figures().underWay ?? 0) > 0) await settle();
    if (checks > TIMES) passed += 1;
  }
  await engine?.stop();
  // What else runs by time runs as often with every number of checks.
  await app.clock.advance((300 - seconds) * SECOND_MS);
});

test("a mail", async () => {
  await using sending = await createSendingSite();
  const { site } = sending;
  for (let subscriber = 0; subscriber <= TIMES; subscriber++)
    await site.subscribe(`s${subscriber}`);
  await site.open();
  await sending.finish();
  expect(sending.taken()).toHaveLength(TIMES + 1);
});

test("a form of the dashboard", async () => {
  await using dashboard = await createIncidentDashboard();
  const { id } = await dashboard.site.open();
  const screen = incidentScreen(id);
  for (let form = 0; form < 3; form++) {
    const { text } = await dashboard.show(screen);
    if (form > TIMES) continue;
    const fields = { ...hiddenIn(text), status: "investigating", body: "More.", notify: "yes" };
    expect((await dashboard.send(`${screen}/updates`, fields)).status).toBe(303);
  }
});
