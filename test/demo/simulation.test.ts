import { describe, expect, test } from "bun:test";
import {
  createDemoEgress,
  createSimulatedProbes,
  fillDemo,
  markPage,
  refuseImport,
  startJobs,
} from "../../src/demo/demo";
import { createFraction } from "../../src/demo/year";
import { MONITOR_PLANS, SLOW_FACTOR } from "../../src/demo/monitor-plans";
import { Fault } from "../../src/egress/model";
import { type IncidentRecord, listIncidents } from "../../src/features/incidents/records";
import { readOutages } from "../../src/features/incidents/outage-store";
import { systemClock } from "../../src/base/clock";
import { openRelay, RelayFault } from "../../src/features/mail/relay";
import { createMonitoring } from "../../src/features/monitors/engine/engine";
import { MINUTE_MS, SECOND_MS } from "../../src/base/time";
import { createTestApp } from "../support/app";
import { createTestClock, settle } from "../support/clock";
import { fieldErrorsOn } from "../support/html";
import { answerOf, sendImport } from "../support/import-dashboard";
import { checkOf, UUIDS } from "../support/import-site";
import { createTestImports } from "../support/imports";

const NOON = Date.parse("2026-03-10T12:02:56.000Z");
const HASH = "$argon2id$stands-for-a-hash";

describe("the simulation of the demo", () => {
  test("within four minutes a monitor degrades, fails, opens an incident and recovers, and jobs report", async () => {
    await using app = await createTestApp({ clock: createTestClock(NOON) });
    const { ctx, clock } = app;
    const { keys, jobs } = await fillDemo(app, { seed: 1, passwordHash: HASH });
    const findProbe = createSimulatedProbes(clock, createFraction("1"));
    const engine = createMonitoring(ctx, createDemoEgress(), { findProbe });
    const before = app.events().length;
    engine.start();
    const timer = startJobs(clock, engine, jobs);
    for (let passed = 0; passed < 4 * MINUTE_MS; passed += SECOND_MS) {
      await clock.advance(SECOND_MS);
      await settle();
    }
    timer.cancel();
    await engine.stop();

    const types = app
      .events()
      .slice(before)
      .map(({ type }) => type)
      .filter((type) => /^(monitor|incident)\./.test(type));
    expect(types).toEqual([
      "monitor.degraded",
      "incident.created",
      "monitor.down",
      "incident.resolved",
      "monitor.up",
    ]);
    const { body } = await app.call("/api/v1/monitors?limit=100", { key: keys["manage:monitors"] });
    const states = body.data.map(({ state }: { state: string }) => state);
    expect(new Set(states)).toEqual(new Set(["up"]));
    const job = jobs.find(({ intervalMs }) => intervalMs === 5 * MINUTE_MS)?.monitorId;
    const { body: checks } = await app.call(`/api/v1/monitors/${job}/checks?limit=1`, {
      key: keys["manage:monitors"],
    });
    expect(Date.parse(checks.data[0].at)).toBeGreaterThan(NOON);
  });

  test("in the second four minutes three monitors fail together, share an incident and recover", async () => {
    await using app = await createTestApp({ clock: createTestClock(NOON) });
    const { ctx, clock } = app;
    await fillDemo(app, { seed: 1, passwordHash: HASH });
    const fraction = createFraction("1");
    const findProbe = createSimulatedProbes(clock, fraction);
    const engine = createMonitoring(ctx, createDemoEgress(), { findProbe });
    engine.start();
    const before = new Set(listIncidents(ctx.db, { limit: 100 }).map(({ row }) => row.id));
    for (let passed = 0; passed < 8 * MINUTE_MS; passed += SECOND_MS) {
      await clock.advance(SECOND_MS);
      await settle();
    }
    await engine.stop();

    const created = listIncidents(ctx.db, { limit: 100 }).filter(({ row }) => !before.has(row.id));
    const monitorsOf = ({ row }: IncidentRecord) => {
      const { outages } = readOutages(ctx.db, row);
      return new Set(outages.map(({ outage }) => outage.monitorId)).size;
    };
    // One of the three is the monitor that failed in the first four minutes, so that its incident is reopened.
    expect(created.map(monitorsOf)).toEqual([3]);
    const [shared] = created;
    expect(shared?.updates.map(({ status }) => status)).toEqual([
      "resolved",
      "investigating",
      "investigating",
      "resolved",
      "investigating",
    ]);
  });

  test("a slow monitor is above the limit of its response time, and a usual one is below", () => {
    const limited = MONITOR_PLANS.filter(
      ({ input }) => typeof input.degraded_after_ms === "number",
    );
    expect(limited).toHaveLength(5);
    for (const { input, latencyMs } of limited) {
      // Response times vary by a fifth around the usual one, and single ones are twice as long.
      const usual = latencyMs ?? 0;
      expect(0.8 * SLOW_FACTOR * usual).toBeGreaterThan(input.degraded_after_ms ?? 0);
      expect(3 * usual).toBeLessThan(input.degraded_after_ms ?? 0);
    }
  });

  test("outgoing connections are refused, and webhooks are answered inside the process", async () => {
    const egress = createDemoEgress();
    const signal = new AbortController().signal;
    const policy = "monitor" as const;
    const host = "127.0.0.1";
    const url = new URL("http://127.0.0.1:9/");
    for (const outcome of [
      await egress.resolve({ host, policy, signal }),
      await egress.connect({ host, port: 9, policy, signal }),
      await egress.socket({ host, port: 9, policy, signal }),
      await egress.query({ name: "example.com", type: "A", policy, signal }),
      await egress.askDocker({ host: "local", container: "web", signal }),
      await egress.request({ url, method: "GET", policy, signal }),
    ]) {
      expect(outcome).toBeInstanceOf(Fault);
    }
    const send = async () => {
      const answer = await egress.request({ url, method: "POST", policy: "webhook", signal });
      return answer instanceof Fault ? answer : answer.status;
    };
    const statuses: unknown[] = [];
    for (let request = 0; request < 10; request++) statuses.push(await send());
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 503, 200]);
  });
});

test("mails are taken by a relay inside the process, one after the other", async () => {
  const relay = await openRelay({
    settings: { host: "mail.meridian.example", port: 25, tls: "none" },
    name: "localhost",
    egress: createDemoEgress(),
    clock: systemClock(),
    signal: new AbortController().signal,
  });
  if (relay instanceof RelayFault) throw new Error(relay.reply.text);
  const envelope = { from: "status@meridian.example", to: "anna@northwind.example" };
  // Lines that look like commands, or like the end of a message, are part of it.
  for (const text of ["Subject: One\r\n\r\nQUIT\r\n", "Subject: Two\r\n\r\n.\r\nDATA\r\n.."]) {
    // oxlint-disable-next-line no-await-in-loop
    const reply = await relay.send({ envelope, message: new TextEncoder().encode(text) });
    expect([reply.stage, reply.code]).toEqual(["message", 250]);
  }
  expect(relay.isUsable).toBe(true);
  relay.close();
});

describe("the strip of the demo", () => {
  const html =
    '<!doctype html><html><head><title>A</title></head><body class="dash">B</body></html>';
  const policy = "default-src 'none'; style-src 'self'";
  const headers = { "Content-Type": "text/html;charset=utf-8", "Content-Security-Policy": policy };

  test("an HTML document gets the strip and a policy that allows its style, compressed or not", async () => {
    const zipped = { ...headers, "Content-Encoding": "gzip" };
    for (const answer of [
      new Response(html, { status: 404, headers }),
      new Response(Bun.gzipSync(html), { status: 404, headers: zipped }),
    ]) {
      const marked = await markPage(answer);
      expect([marked.status, marked.headers.get("content-encoding")]).toEqual([404, null]);
      const text = await marked.text();
      expect(text).toContain('<body class="dash"><aside class="demo-strip" aria-label="Demo">');
      const [, css = ""] = /<style>([^<]*)<\/style>/.exec(text) ?? [];
      const hash = Bun.SHA256.hash(css, "base64");
      expect(marked.headers.get("content-security-policy")).toBe(
        `default-src 'none'; style-src 'sha256-${hash}' 'self'`,
      );
    }
  });

  test("a policy that allows all inline styles stays as it is", async () => {
    const inline = "style-src 'self' 'unsafe-inline'";
    const answer = new Response(html, {
      headers: { ...headers, "Content-Security-Policy": inline },
    });
    const marked = await markPage(answer);
    expect(marked.headers.get("content-security-policy")).toBe(inline);
    expect(await marked.text()).toContain("demo-strip");
  });

  test("other answers and answers without a body stay as they are", async () => {
    for (const answer of [
      Response.json({ html }),
      new Response(null, { status: 304 }),
      new Response(null, { status: 200, headers }),
    ]) {
      expect(await markPage(answer)).toBe(answer);
    }
  });
});

test("an import into the demo is refused with the reason", async () => {
  let files: Disposable | undefined;
  await using app = await createTestApp({
    imports(ctx) {
      const own = createTestImports(ctx, refuseImport);
      files = own;
      return own.imports;
    },
  });
  const answer = await sendImport(app, await app.signedIn(), answerOf(checkOf(UUIDS[0])));
  files?.[Symbol.dispose]();
  expect(answer.status).toBe(422);
  expect(fieldErrorsOn(answer.text)["file"]).toStartWith("The demo imports nothing");
});
