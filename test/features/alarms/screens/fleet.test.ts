import { describe, expect, test } from "bun:test";
import { readUndismissed } from "../../../../src/features/alarms/fleet";
import { MINUTE_MS } from "../../../../src/base/time";
import { createTestApp, type TestApp } from "../../../support/app";
import { TEST_START } from "../../../support/clock";
import { readHtml } from "../../../support/html";
import { alarmOf, createTestFleet } from "../../../support/test-fleet";

const FLEET = "/admin/settings/fleet";

/** An application whose fleet the test sets. */
async function createFleetApp() {
  const fleet = createTestFleet();
  const app = await createTestApp({ fleet: () => fleet });
  return { app, fleet };
}

async function open(app: TestApp, session: string, path = FLEET) {
  return readHtml((await app.call(path, { session })).text);
}

const STALE = alarmOf("mirror_stale", "It was last written 6 min ago.", TEST_START - MINUTE_MS);
const LEASE = alarmOf("lease_renewal", "The store does not answer.", TEST_START);
const STALE_NOTICE = "Mirror out of dateIt was last written 6 min ago. Since 1 min ago. See Fleet.";

test("on one machine, Fleet says that no part is set up and by which option each is", async () => {
  await using app = await createTestApp();
  const screen = await open(app, await app.signedIn("admin"));
  expect(screen.texts(".detail-card h2")).toEqual(["Alarms", "Mirror", "CDN"]);
  expect(screen.texts(".detail-card .state")).toEqual(["No alarm", "No mirror", "Off"]);
  expect(screen.texts(".detail-card .detail-note code")).toEqual([
    "fleet.alarm",
    "--mirror",
    "--cdn",
  ]);
});

test("Fleet is open to admins, and not to editors", async () => {
  const { app } = await createFleetApp();
  await using _ = app;
  expect((await app.call(FLEET, { session: await app.signedIn("admin") })).status).toBe(200);
  const editor = await app.signedIn("editor");
  expect((await app.call(FLEET, { session: editor })).status).toBe(403);
  expect((await open(app, editor, "/admin")).texts(".menu a")).not.toContain("Fleet");
});

test("Fleet lists the alarms with their details, and the sidebar counts them in the tone of the worst", async () => {
  const { app, fleet } = await createFleetApp();
  await using _ = app;
  const session = await app.signedIn("admin");
  expect((await open(app, session)).texts(".menu .n")).toEqual([]);
  fleet.raised = [LEASE, STALE];
  const screen = await open(app, session);
  expect(screen.texts("#fleet-alarms .detail-name")).toEqual([
    "Lease not renewed",
    "Mirror out of date",
  ]);
  expect(screen.texts("#fleet-alarms .detail-note")[1]).toBe(
    "It was last written 6 min ago. Since 1 min ago.",
  );
  expect(screen.texts("#menu .n")).toEqual(["2 alarms"]);
  expect(screen.attributes("#menu .n", "class")).toEqual(["n t-major"]);
});

test.each([
  ["is recent", TEST_START - MINUTE_MS, undefined, "Up to date"],
  ["is older than 5 minutes", TEST_START - 6 * MINUTE_MS, undefined, "Out of date"],
  ["was never written", undefined, undefined, "Not written yet"],
  ["failed at last", TEST_START, "It did not answer.", "Last write failed"],
])("the state of a mirror that %s is named", async (_name, asOf, error, state) => {
  const { app, fleet } = await createFleetApp();
  await using _ = app;
  fleet.mirror = () => ({ target: "s3://status/acme", files: 1_214, asOf, error });
  const screen = await open(app, await app.signedIn("admin"));
  const values = screen.texts("#fleet-mirror dd");
  expect(values.slice(0, 2)).toEqual([state, "s3://status/acme"]);
  expect(values[3]).toBe("1,214");
  expect(values.slice(4)).toEqual(error === undefined ? [] : [error]);
});

test.each([
  ["without a purge address", {}, ["On", "300 s", "None"]],
  [
    "with a purge",
    { purgeHost: "cdn.example", purgedAt: TEST_START - MINUTE_MS },
    ["On", "300 s", "cdn.example", "1 min ago"],
  ],
  [
    "with a failed purge",
    { purgeHost: "cdn.example", error: "It answered 403." },
    ["Last purge failed", "300 s", "cdn.example", "Never", "It answered 403."],
  ],
])("the state of the CDN mode %s is named", async (_name, cdn, values) => {
  const { app, fleet } = await createFleetApp();
  await using _ = app;
  fleet.cdn = () => ({ seconds: 300, ...cdn });
  const screen = await open(app, await app.signedIn("admin"));
  expect(screen.texts("#fleet-cdn dd")).toEqual(values);
});

test("Fleet lists each node with its role, lag and last sign of life", async () => {
  const { app, fleet } = await createFleetApp();
  await using _ = app;
  const node = { version: "1.0.0", txid: "2a", isEligible: true, isSelf: false } as const;
  fleet.nodes = () => ({
    term: 7,
    store: "s3://status/fleet",
    failover: "manual",
    ack: "local",
    orphans: [],
    nodes: [
      { ...node, name: "a", role: "primary", isSelf: true, lagSeconds: 0, seenAt: TEST_START },
      { ...node, name: "b", role: "replica", lagSeconds: 14.24, seenAt: TEST_START - 1_000 },
      {
        ...node,
        name: "c",
        role: "replica",
        isEligible: false,
        lagSeconds: 0.5,
        seenAt: TEST_START - 11_000,
      },
      { ...node, name: "d", role: "replica", txid: undefined, lagSeconds: 1, seenAt: TEST_START },
    ],
  });
  const screen = await open(app, await app.signedIn("admin"));
  expect(screen.texts("#fleet-nodes .detail-name")).toEqual(["a", "b", "c", "d"]);
  expect(screen.texts("#fleet-nodes .state")).toEqual([
    "Writes",
    "Behind",
    "Not seen",
    "Up to date",
  ]);
  expect(screen.texts("#fleet-nodes .detail-note")).toEqual([
    "Primary · transaction 2a · 1.0.0 · this node",
    "Eligible replica · 14.2 s behind · transaction 2a · 1.0.0 · seen 1 s ago",
    "Replica · 0.5 s behind · transaction 2a · 1.0.0 · seen 11 s ago",
    "Eligible replica · 1.0 s behind · 1.0.0 · seen just now",
  ]);
  expect(screen.texts("#fleet-primary dd")).toEqual([
    "7",
    "s3://status/fleet",
    "Manual",
    "Acknowledged before upload",
    "None: each node applies limits by itself",
  ]);
});

describe("events of earlier primaries", () => {
  const LOST = [
    { node: "oslo/node_a", file: "/data/allclear.db.term-6", events: 3 },
    { node: "bergen/node_b", file: "/data/allclear.db.term-6", events: 1 },
  ];
  const DISMISS = `${FLEET}/orphans`;
  const database = "node_a /data/allclear.db.term-6";

  /** An application of a primary whose nodes keep two databases of earlier terms. */
  async function createWithOrphans() {
    const { app, fleet } = await createFleetApp();
    fleet.nodes = () => ({
      term: 7,
      store: "s3://status/fleet",
      failover: "manual",
      ack: "replicated",
      nodes: [],
      orphans: LOST.filter(readUndismissed(app.ctx.db)),
    });
    return app;
  }

  test("are counted for each database, and dismissed by an owner, once and with an audit entry", async () => {
    await using app = await createWithOrphans();
    const session = await app.signedIn("owner");
    const screen = await open(app, session);
    expect(screen.texts("#fleet-orphans .detail-name")).toEqual([
      "3 events on oslo/node_a",
      "1 event on bergen/node_b",
    ]);
    expect(screen.attributes("#fleet-orphans button", "value")[0]).toBe(database);
    for (let repeat = 0; repeat < 2; repeat++) {
      const answer = await app.call(DISMISS, { session, form: { database } });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, FLEET]);
    }
    expect((await open(app, session)).texts("#fleet-orphans .detail-name")).toEqual([
      "1 event on bergen/node_b",
    ]);
    expect(app.audit().filter(({ action }) => action === "fleet.orphans_dismissed")).toEqual([
      expect.objectContaining({
        summary:
          "Dismissed 3 events of an earlier primary in /data/allclear.db.term-6 of oslo/node_a",
      }),
    ]);
  });

  test("appear again if the database lacks more of them", async () => {
    await using app = await createWithOrphans();
    const session = await app.signedIn("owner");
    await app.call(DISMISS, { session, form: { database } });
    const isOpen = readUndismissed(app.ctx.db);
    const [oslo] = LOST;
    expect(oslo && isOpen(oslo)).toBe(false);
    expect(oslo && isOpen({ ...oslo, events: 4 })).toBe(true);
  });

  test("cannot be dismissed by an admin, who sees them without a button", async () => {
    await using app = await createWithOrphans();
    const session = await app.signedIn("admin");
    const screen = await open(app, session);
    expect(screen.texts("#fleet-orphans .detail-name")).toHaveLength(2);
    expect(screen.texts("#fleet-orphans button")).toEqual([]);
    expect((await app.call(DISMISS, { session, form: { database } })).status).toBe(403);
    expect((await open(app, session)).texts("#fleet-orphans .detail-name")).toHaveLength(2);
  });

  test("of a database that no node keeps are not dismissed", async () => {
    await using app = await createWithOrphans();
    const session = await app.signedIn("owner");
    const form = { database: "node_c /data/allclear.db.term-6" };
    expect((await app.call(DISMISS, { session, form })).status).toBe(303);
    expect(app.audit().map(({ action }) => action)).not.toContain("fleet.orphans_dismissed");
  });
});

test("the overview warns admins of alarms, three with their details, and does not say that all is calm", async () => {
  const { app, fleet } = await createFleetApp();
  await using _ = app;
  await app.page({ slug: "shop", name: "Shop" });
  const session = await app.signedIn("admin");
  // An installation in which nothing has happened is not called calm.
  const key = await app.keyWith("write:incidents");
  const json = { page: "shop", name: "Late mail", status: "resolved", body: "It is solved." };
  expect((await app.call("/api/v1/incidents", { method: "POST", key, json })).status).toBe(201);
  const before = await open(app, session, "/admin");
  expect(before.texts(".notice")).toEqual([]);
  expect(before.texts(".calm")).toHaveLength(1);
  fleet.raised = [STALE];
  const screen = await open(app, session, "/admin");
  expect(screen.texts(".notice")).toEqual([STALE_NOTICE]);
  expect(screen.attributes(".notice a", "href")).toEqual([FLEET]);
  expect(screen.texts(".calm")).toEqual([]);
  fleet.raised = [LEASE, STALE, STALE, STALE, STALE];
  const more = (await open(app, session, "/admin")).texts(".notice");
  expect(more).toHaveLength(4);
  expect(more.at(-1)).toBe("2 more alarms: see Fleet.");
});

test("the overview shows no alarm to editors, who cannot open Fleet", async () => {
  const { app, fleet } = await createFleetApp();
  await using _ = app;
  await app.page({ slug: "shop", name: "Shop" });
  fleet.raised = [STALE];
  const screen = await open(app, await app.signedIn("editor"), "/admin");
  expect(screen.texts(".notice")).toEqual([]);
  expect(screen.texts("#menu .n")).toEqual([]);
});
