import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { isCompatible, type Work } from "../../../src/features/locations/agent-wire";
import { CheckRequests } from "../../../src/features/locations/check-requests";
import { deleteLocation } from "../../../src/features/locations/locations";
import { findLocation } from "../../../src/features/locations/store";
import { deleteMonitor } from "../../../src/features/monitors/monitors";
import { VERSION } from "../../../src/version";
import { chargeOf, expectProblem } from "../../support/app";
import { settle } from "../../support/clock";
import { updateMonitor } from "../../support/examined";
import { createLocationSite, PROCESS, resultOf } from "../../support/location-site";

/** Returns a version of the same major number, some minor versions away from this one. */
function versionAway(minors: number): string {
  const [major = 0, minor = 0] = VERSION.split(".").map(Number);
  return `${major}.${minor + minors}.0`;
}

describe("GET /api/v1/probe/work", () => {
  test("the agent of a location gets its monitors with their secrets, and no others", async () => {
    await using site = await createLocationSite();
    const berlin = await site.addLocation("Berlin");
    const oregon = await site.addLocation("Oregon");
    const both = await site.addMonitor(["local", berlin.id, oregon.id]);
    await site.addMonitor(["local", oregon.id]);
    await site.addMonitor(["local"]);
    const paused = await site.addMonitor([berlin.id], { paused: true });
    const { status, body, headers } = await site.ask(berlin.token);
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body.location).toBe(berlin.id);
    expect(body.now).toBe(site.clock.now());
    expect(body.monitors).toEqual([
      expect.objectContaining({
        id: both,
        version: 1,
        type: "http",
        config: expect.objectContaining({ headers: { Authorization: "very-secret" } }),
        interval_seconds: 60,
        locations: ["local", berlin.id, oregon.id],
      }),
    ]);
    expect(JSON.stringify(body)).not.toContain(paused);
    expect(site.calls).toEqual([{ locationId: berlin.id, version: VERSION }]);
  });

  test("a poll with the current entity tag waits for 30 seconds and is answered without monitors", async () => {
    await using site = await createLocationSite();
    const { id, token } = await site.addLocation("Berlin");
    await site.addMonitor([id]);
    const first = await site.ask(token);
    const etag = first.headers.get("etag") ?? "";
    let second: Work | undefined;
    const waiting = site.ask(token, etag).then(({ body }) => (second = body));
    await settle();
    await site.clock.advance(29_000);
    expect(second).toBeUndefined();
    await site.clock.advance(1_000);
    await waiting;
    expect(second).not.toHaveProperty("monitors");
    expect(second?.check_requests).toEqual([]);
  });

  test("a location has four polls that wait, of which a further one ends the oldest", async () => {
    await using site = await createLocationSite();
    const { token } = await site.addLocation("Berlin");
    const etag = (await site.ask(token)).headers.get("etag") ?? "";
    const answered: number[] = [];
    const waiting = [0, 1, 2, 3, 4, 5].map((each) =>
      site.ask(token, etag).then(() => answered.push(each)),
    );
    await settle();
    expect(answered).toEqual([0, 1]);
    await site.clock.advance(30_000);
    await Promise.all(waiting);
  });

  test("a change of a monitor answers the polls of its locations, and no others", async () => {
    await using site = await createLocationSite();
    const berlin = await site.addLocation("Berlin");
    const oregon = await site.addLocation("Oregon");
    const monitor = await site.addMonitor([berlin.id]);
    await site.addMonitor([oregon.id]);
    const tags = await Promise.all([site.ask(berlin.token), site.ask(oregon.token)]);
    const [ofBerlin = "", ofOregon = ""] = tags.map(({ headers }) => headers.get("etag") ?? "");
    const answered: string[] = [];
    const first = site.ask(berlin.token, ofBerlin).then(({ body }) => {
      answered.push("berlin");
      return body;
    });
    const second = site.ask(oregon.token, ofOregon).then(() => answered.push("oregon"));
    await settle();
    await site.ctx.db.write((tx) =>
      updateMonitor(site.ctx, tx, monitor, { interval_seconds: 300 }, CLI_ACTOR),
    );
    await site.clock.advance(300);
    expect(answered).toEqual(["berlin"]);
    expect((await first).monitors).toEqual([
      expect.objectContaining({ id: monitor, version: 2, interval_seconds: 300 }),
    ]);
    await site.clock.advance(30_000);
    await second;
  });

  test("a deleted monitor leaves the work", async () => {
    await using site = await createLocationSite();
    const { id, token } = await site.addLocation("Berlin");
    const monitor = await site.addMonitor([id]);
    expect((await site.ask(token)).body.monitors).toHaveLength(1);
    await site.ctx.db.write((tx) => deleteMonitor(site.ctx, tx, monitor, CLI_ACTOR));
    await site.clock.advance(300);
    expect((await site.ask(token)).body.monitors).toEqual([]);
  });

  test("a request for a check answers the poll of its location at once, and its result answers the request", async () => {
    await using site = await createLocationSite();
    const { id, token } = await site.addLocation("Berlin");
    const monitor = await site.addMonitor([id]);
    const etag = (await site.ask(token)).headers.get("etag") ?? "";
    const waiting = site.ask(token, etag);
    await settle();
    const requested = site.checkRequests.request(id, monitor, true);
    const { body } = await waiting;
    expect(body.check_requests).toEqual([
      { id: expect.any(String), monitor_id: monitor, steps: true },
    ]);
    const request_ids = body.check_requests.map((request: { id: string }) => request.id);
    const steps = [{ name: "connect", duration_ms: 3.2, ok: true, detail: "203.0.113.5" }] as const;
    const result = resultOf(monitor, 1, { request_ids, steps: [...steps] });
    expect((await site.send(token, { process: PROCESS, results: [result] })).status).toBe(200);
    expect(await requested).toMatchObject({
      check: { at: site.clock.now() - 250, outcome: "ok", latencyMs: 12, message: null },
      steps: [{ name: "connect", durationMs: 3.2, isOk: true, detail: "203.0.113.5" }],
    });
    expect(site.checkRequests.pendingOf(id)).toEqual([]);
  });

  test("a request for a check ends after 70 seconds, and with the reason of an agent that cannot make it", async () => {
    await using site = await createLocationSite();
    const { id, token } = await site.addLocation("Berlin");
    const other = await site.addLocation("Oregon");
    const monitor = await site.addMonitor([id]);
    const refused = site.checkRequests.request(id, monitor, false).catch(String);
    const [pending] = site.checkRequests.pendingOf(id);
    const detail = "The agent is too busy.";
    const failed_requests = [{ request_id: pending?.id, detail }];
    const body = { process: PROCESS, results: [], failed_requests };
    // Another location answers for itself only.
    await site.send(other.token, body);
    expect(site.checkRequests.pendingOf(id)).toHaveLength(1);
    await site.send(token, body);
    expect(await refused).toContain(detail);
    const overdue = site.checkRequests.request(id, monitor, false).catch(String);
    await site.clock.advance(70_000);
    expect(await overdue).toContain("no result yet");
  });

  test("a token that is replaced ends the poll that waits with it, and works no more", async () => {
    await using site = await createLocationSite();
    const { id, token } = await site.addLocation("Berlin");
    await site.addMonitor([id]);
    const etag = (await site.ask(token)).headers.get("etag") ?? "";
    const waiting = site.ask(token, etag);
    await settle();
    const next = await site.replaceToken(id);
    expect((await waiting).status).toBe(401);
    expect((await site.ask(token)).status).toBe(401);
    expect((await site.send(token, { process: PROCESS, results: [] })).status).toBe(401);
    expect((await site.ask(next)).status).toBe(200);
    expect(site.taken).toEqual([]);
  });

  test("the token of a deleted location works no more", async () => {
    await using site = await createLocationSite();
    const { id, token } = await site.addLocation("Berlin");
    expect((await site.ask(token)).status).toBe(200);
    await site.ctx.db.write((tx) => deleteLocation(site.ctx, tx, id, CLI_ACTOR));
    expect((await site.ask(token)).status).toBe(401);
  });

  test("an agent that is two minor versions away is refused, and its version is noted without a contact", async () => {
    await using site = await createLocationSite();
    const { id, token } = await site.addLocation("Berlin");
    const { status, body } = await site.ask(token, undefined, versionAway(2));
    expect([status, (body as unknown as { code: string }).code]).toEqual([409, "conflict"]);
    expect((await site.ask(token, undefined, "none")).status).toBe(409);
    expect(site.calls).toEqual([]);
    const row = findLocation(site.ctx.db, { id });
    expect([row?.agentVersion, row?.contactAt]).toEqual([versionAway(2), null]);
    expect((await site.ask(token, undefined, versionAway(1))).status).toBe(200);
  });

  test("versions work together if their major numbers are equal and their minor ones differ by one at most", () => {
    expect(isCompatible("1.4.2", "1.5.0")).toBe(true);
    expect(isCompatible("1.5.0-rc.1", "1.4.9")).toBe(true);
    expect(isCompatible("1.3.0", "1.5.0")).toBe(false);
    expect(isCompatible("2.5.0", "1.5.0")).toBe(false);
    expect(isCompatible("", "1.5.0")).toBe(false);
  });
});

describe("POST /api/v1/probe/results", () => {
  test("a batch reaches the engine, without the results that are not valid", async () => {
    await using site = await createLocationSite();
    const { id, token } = await site.addLocation("Berlin");
    const monitor = await site.addMonitor([id]);
    const good = [
      resultOf(monitor, 1),
      resultOf(monitor, 4, { outcome: "failed", message: "No." }),
    ];
    const bad = [
      { ...resultOf(monitor, 2), age_ms: -1 },
      { ...resultOf(monitor, 3), latency_ms: 1e12 },
      { ...resultOf(monitor, 5), message: "x".repeat(401) },
      // No date.
      {
        ...resultOf(monitor, 6),
        certificate: { host: "a.test", fingerprint: "ab", expires_at: 9e15 },
      },
      "text",
      null,
    ];
    const results = [good[0], ...bad, good[1]];
    const { status, body } = await site.send(token, { process: PROCESS, results });
    expect([status, body]).toEqual([200, { taken: 2, invalid: 6 }]);
    expect(site.taken).toEqual([{ locationId: id, process: PROCESS, results: good }]);
  });

  test("a batch of more than 1,000 results or 256 KiB is refused", async () => {
    await using site = await createLocationSite();
    const { id, token } = await site.addLocation("Berlin");
    const monitor = await site.addMonitor([id]);
    const many = (count: number) =>
      Array.from({ length: count }, (_, n) => resultOf(monitor, n + 1));
    const send = (results: unknown[]) => site.send(token, { process: PROCESS, results });
    expect((await send(many(1_000))).status).toBe(200);
    expect((await send(many(1_001))).status).toBe(422);
    expect((await send([{ ...resultOf(monitor, 1), more: "x".repeat(257 * 1024) }])).status).toBe(
      413,
    );
    expect(site.taken).toHaveLength(1);
  });

  test("a location that sends more than 1,000 results a second for long is asked to send them later", async () => {
    await using site = await createLocationSite();
    const berlin = await site.addLocation("Berlin");
    const oregon = await site.addLocation("Oregon");
    const batch = { process: PROCESS, results: Array.from({ length: 1_000 }, () => ({})) };
    for (let batches = 0; batches < 20; batches++) {
      // oxlint-disable-next-line no-await-in-loop
      expect((await site.send(berlin.token, batch)).status).toBe(200);
    }
    expectProblem(await site.send(berlin.token, batch), "unavailable");
    expect((await site.send(oregon.token, batch)).status).toBe(200);
    await site.clock.advance(1_000);
    expect((await site.send(berlin.token, batch)).status).toBe(200);
    expectProblem(await site.send(berlin.token, batch), "unavailable");
  });

  test("no answer to a request of an earlier process answers one of this", async () => {
    await using site = await createLocationSite();
    await site.clock.advance(1);
    const later = new CheckRequests(site.clock);
    for (const requests of [site.checkRequests, later]) {
      void requests.request("loc_a", "mon_a", false).catch(() => {});
    }
    expect(later.pendingOf("loc_a")).not.toEqual([...site.checkRequests.pendingOf("loc_a")]);
    later.stop();
  });

  test("without a token of a location the address is charged, and a location has a bucket of 600 a minute of its own", async () => {
    await using site = await createLocationSite();
    const berlin = await site.addLocation("Berlin");
    const oregon = await site.addLocation("Oregon");
    const send = (token: string) => site.send(token, { process: PROCESS, results: [] });
    const wrong = await send("x".repeat(43));
    expect([wrong.status, chargeOf(wrong)]).toEqual([401, "public 99"]);
    const first = await send(berlin.token);
    expect([first.status, chargeOf(first)]).toEqual([200, "location 599"]);
    for (let count = 1; count < 600; count++) await send(berlin.token);
    expect((await send(berlin.token)).status).toBe(429);
    // A second token of the location has the same bucket.
    expect((await send(await site.replaceToken(berlin.id))).status).toBe(429);
    expect((await send(oregon.token)).status).toBe(200);
  });

  test("the token of a location is good for its two paths alone, and nothing else is good for them", async () => {
    await using site = await createLocationSite();
    const { token } = await site.addLocation("Berlin");
    await site.app.loadRoutes();
    const reads = site.app.routes.routes.filter(
      ({ method, path, operation }) =>
        method === "GET" && !path.includes(":") && operation.access.kind === "key",
    );
    expect(reads.length).toBeGreaterThan(3);
    for (const { path } of reads) {
      expect([path, (await site.call(path, { key: token })).status]).toEqual([path, 401]);
    }
    const key = await site.keyWith("manage:monitors");
    expect((await site.ask(key)).status).toBe(401);
    expect((await site.call("/api/v1/probe/work")).status).toBe(401);
    const session = await site.signedIn("owner");
    expect((await site.call("/api/v1/probe/work", { session })).status).toBe(401);
  });

  test("a batch that cannot be stored is answered with its error, and answers no request for a check", async () => {
    await using site = await createLocationSite({
      takeResults: () => Promise.reject(new Error("no database")),
    });
    const { id, token } = await site.addLocation("Berlin");
    const monitor = await site.addMonitor([id]);
    const requested = site.checkRequests.request(id, monitor, false).catch(String);
    const request_ids = site.checkRequests.pendingOf(id).map((request) => request.id);
    const results = [resultOf(monitor, 1, { request_ids })];
    expect((await site.send(token, { process: PROCESS, results })).status).toBe(500);
    expect(site.checkRequests.pendingOf(id)).toHaveLength(1);
    site.checkRequests.stop();
    expect(await requested).toContain("shutting down");
  });
});
