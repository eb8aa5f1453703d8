import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { DAY_MS, MINUTE_MS, toIso } from "../../../../src/base/time";
import { recordBackup } from "../../../../src/features/backups/backups";
import { storeRelayRecord } from "../../../../src/features/mail/settings";
import { createTestApp, type TestApp } from "../../../support/app";
import { TEST_START } from "../../../support/clock";
import { createDeliverySite } from "../../../support/delivery-site";
import { readHtml } from "../../../support/html";
import { startReceiver } from "../../../support/receiver";
import { alarmOf, createTestFleet } from "../../../support/test-fleet";

const SETTINGS = "/admin/settings";

async function open(app: TestApp, session: string) {
  return readHtml((await app.call(SETTINGS, { session })).text);
}

/** Returns the line of each row by its name. */
async function linesOf(app: TestApp, session: string): Promise<Record<string, string>> {
  const page = await open(app, session);
  const lines = page.texts(".link-rows .detail-note");
  return Object.fromEntries(
    page.texts(".link-rows .detail-name").map((name, index) => [name, lines[index] ?? ""]),
  );
}

test("Settings has three groups of links, and each link opens", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("owner");
  const page = await open(app, session);
  expect(page.texts(".settings-group h2")).toEqual(["Access", "Telling people", "This server"]);
  expect(page.texts(".link-rows .detail-name")).toEqual([
    "API Keys",
    "Users",
    "Sign-in",
    "Activity",
    "Webhooks",
    "Mail",
    "General",
    "Locations",
    "Import",
    "Backups",
  ]);
  for (const href of page.attributes(".link-rows a", "href")) {
    const [path = "", id] = href.split("#");
    const { status, text } = await app.call(path, { session });
    expect(status).toBe(200);
    const target = readHtml(text);
    expect(target.texts(".menu [aria-current]")).toEqual(["Settings"]);
    expect(target.attributes(".crumbs a", "href")[0]).toBe(SETTINGS);
    if (id !== undefined) expect(target.texts(`#${id} h2`)).toEqual(["Backups"]);
  }
});

test("an admin gets the rows that an admin may open, and an editor the account", async () => {
  await using app = await createTestApp();
  expect(Object.keys(await linesOf(app, await app.signedIn("admin")))).toEqual([
    "API Keys",
    "Activity",
    "Webhooks",
    "Locations",
  ]);
  const { status, headers } = await app.call(SETTINGS, { session: await app.signedIn("editor") });
  expect([status, headers.get("location")]).toEqual([303, "/admin/settings/account"]);
});

test("a row says what its screen holds now", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("owner");
  await app.signedIn("editor");
  await app.signedIn("editor");
  expect(await linesOf(app, session)).toMatchObject({
    "API Keys": "No key that works",
    Users: "4 users: 2 owners, 2 editors",
    Webhooks: "No webhook yet",
    Mail: "Not set up",
    General: "status.test, check results kept for 48 hours",
    Import: "From Uptime Kuma, Gatus, Statuspage, Healthchecks, UptimeRobot, Better Stack and CSV",
    Backups: "None from the dashboard or the command line yet",
  });
  await app.keyWith("read:status");
  await app.ctx.db.write((tx) => recordBackup(app.ctx, tx, 1.3e9, CLI_ACTOR));
  await app.clock.advance(9 * MINUTE_MS);
  expect(await linesOf(app, session)).toMatchObject({
    "API Keys": "1 key",
    Activity: "Wrote a backup of the database, 1.3 GB · Command line, 9 min ago",
    Backups: "Last 9 min ago, 1.3 GB",
  });
});

test("keys that expire within 14 days stand in their row, one with its time", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("admin");
  const create = (days: number) =>
    app.createKey({ expires: toIso(app.clock.now() + days * DAY_MS) });
  await create(3);
  await create(30);
  const page = await open(app, session);
  expect(page.texts(".link-rows .state")).toEqual(["1 expires in 3 days"]);
  expect(page.attributes(".link-rows .state", "class")).toEqual(["state t-degraded"]);
  await create(5);
  expect((await linesOf(app, session))["API Keys"]).toBe("3 keys, 2 expire within 14 days");
});

test("a webhook that fails stands in its row with the tone of the sidebar", async () => {
  await using receiver = startReceiver(() => 500);
  await using site = await createDeliverySite();
  await site.endpoint(receiver.url);
  await site.recordEvents("cmp_1");
  await site.pass(11 * MINUTE_MS);
  const session = await site.app.signedIn("admin");
  expect((await linesOf(site.app, session))["Webhooks"]).toBe("1 webhook, 1 failing");
  const page = await open(site.app, session);
  expect(page.attributes(".link-rows .state", "class")).toEqual(["state t-partial"]);
});

test("the row of mail names the relay, what is missing, and since when the relay is unavailable", async () => {
  const env = { ALLCLEAR_SMTP_HOST: "relay.test", ALLCLEAR_MAIL_FROM: "status@example.com" };
  await using app = await createTestApp({ env });
  const session = await app.signedIn("owner");
  expect((await linesOf(app, session))["Mail"]).toBe("relay.test, nothing sent yet");
  const now = app.clock.now();
  const record = { isAvailable: false, since: now - MINUTE_MS, reply: "421 Busy", nextTryAt: now };
  await app.ctx.db.write((tx) => storeRelayRecord(tx, record, now));
  expect((await linesOf(app, session))["Mail"]).toBe("relay.test, unavailable since 1 min ago");
  await using local = await createTestApp({ env: { ...env, ALLCLEAR_BASE_URL: undefined } });
  expect((await linesOf(local, await local.signedIn("owner")))["Mail"]).toBe(
    "Needs a public address",
  );
});

test("the row of General warns of a disk that is getting full", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("owner");
  app.ctx.db.disk = async () => ({ freeBytes: 4e9, totalBytes: 40e9 });
  const page = await open(app, session);
  expect(page.texts("#settings-server .state")).toEqual(["disk 90 % used"]);
  expect(page.attributes("#settings-server .state", "class")).toEqual(["state t-degraded"]);
});

test("Fleet has a row while a part of it is set up or an alarm holds", async () => {
  const fleet = createTestFleet();
  await using app = await createTestApp({ fleet: () => fleet });
  const session = await app.signedIn("admin");
  expect(await linesOf(app, session)).not.toHaveProperty("Fleet");
  fleet.mirror = () => ({ target: "/srv/mirror", asOf: TEST_START, files: 3 });
  expect((await linesOf(app, session))["Fleet"]).toBe("Mirror");
  delete fleet.mirror;
  fleet.raised = [alarmOf("lease_renewal", "The store does not answer.", TEST_START)];
  expect((await linesOf(app, session))["Fleet"]).toBe("1 alarm");
  const page = await open(app, session);
  expect(page.attributes("#settings-server .state", "class")).toEqual(["state t-major"]);
});
