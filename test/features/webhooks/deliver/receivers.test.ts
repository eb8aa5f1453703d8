/* Presets against servers that take messages: Matrix (Synapse), Apprise API, and one that does as Mattermost documents. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import type { EventType } from "../../../../src/events/outbox";
import { redeliver } from "../../../../src/features/webhooks/deliveries";
import { type Preset, PRESETS, presetSettings } from "../../../../src/features/webhooks/presets";
import { createDeliverySite, type DeliverySite } from "../../../support/delivery-site";
import { startMattermost } from "../../../support/mattermost";
import { startReceiver } from "../../../support/receiver";
import {
  APPRISE_API_DIR,
  startApprise,
  storeConfiguration,
} from "../../../support/servers/apprise";
import type { ServerProcess } from "../../../support/servers/server-process";
import { createRoom, hasSynapse, startSynapse } from "../../../support/servers/synapse";

const START_MAX_MS = 120_000;

/** Creates an endpoint by a preset whose server is at another origin. */
function createByPreset(site: DeliverySite, preset: Preset, origin: string, secrets: object) {
  const url = preset.url.replace(/^https?:\/\/[^/]+/, origin);
  const settings = { ...presetSettings(preset), secrets };
  return site.endpoint(url, { format: "template", settings, group_seconds: 0 });
}

/** Records an event of a monitor and waits until it is delivered or has failed. */
async function deliver(site: DeliverySite, type: EventType, name: string): Promise<void> {
  const data = { name, state: type.replace("monitor.", "") };
  await site.recordEvents({ type, subjectId: "mon_1", data });
  await site.idle();
}

const HOSTILE = '"quoted" \\ \u0007 <b>\n😀 @channel {title}';
const SHOWN = '"quoted" \\ <b> 😀 @\u200bchannel {title}';

describe("the preset for Mattermost", () => {
  test("posts each message to the webhook, with hostile names as text", async () => {
    await using server = startMattermost("xxx-generatedkey-xxx");
    await using site = await createDeliverySite();
    await createByPreset(site, PRESETS.mattermost, server.origin, { HOOK: "xxx-generatedkey-xxx" });
    await deliver(site, "monitor.down", HOSTILE);
    await deliver(site, "monitor.up", "Shop");
    expect(site.deliveries().map(({ status }) => status)).toEqual(["delivered", "delivered"]);
    expect(server.posts).toHaveLength(2);
    expect(server.posts[0]).toStartWith(`**Monitor down: ${SHOWN}**\n`);
    expect(server.posts[1]).toContain("/admin/monitors/mon_1");
  });

  test("with a wrong key fails, and shows the reason of the server", async () => {
    await using server = startMattermost("xxx-generatedkey-xxx");
    await using site = await createDeliverySite();
    await createByPreset(site, PRESETS.mattermost, server.origin, { HOOK: "another" });
    await deliver(site, "monitor.down", "Shop");
    expect(site.tries()).toMatchObject([
      { statusCode: 400, answer: '{"message":"Invalid webhook."}' },
    ]);
  });
});

if (!hasSynapse) {
  const message = "Synapse is not installed (bun test/support/servers/synapse.ts).";
  if (process.env["CI"]) throw new Error(message);
  console.warn(`SKIPPED: the preset for Matrix. ${message}`);
}

describe.skipIf(!hasSynapse)("the preset for Matrix", () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startSynapse();
  }, START_MAX_MS);
  afterAll(() => server?.[Symbol.asyncDispose]());

  test("sends each message to the room once, also if it is delivered again", async () => {
    const { roomId, token, messages } = await createRoom(server);
    await using site = await createDeliverySite();
    await createByPreset(site, PRESETS.matrix, `http://127.0.0.1:${server.port}`, {
      ROOM_ID: roomId,
      ACCESS_TOKEN: token,
    });
    await deliver(site, "monitor.down", HOSTILE);
    await deliver(site, "monitor.up", "Shop");
    const sent = await messages();
    expect(sent).toHaveLength(2);
    expect(sent[0]).toStartWith(`Monitor down: ${SHOWN}\n`);
    expect(sent[1]).toStartWith("Monitor up: Shop\n");
    const [first] = site.deliveries();
    const { ctx } = site.app;
    await ctx.db.write((tx) => {
      redeliver(ctx, tx, first?.webhookId ?? "", first?.id ?? "", CLI_ACTOR);
    });
    await site.idle();
    expect(site.tries().map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect(await messages()).toEqual(sent);
  });
});

if (APPRISE_API_DIR === undefined) {
  console.warn("SKIPPED: the preset for Apprise API. APPRISE_API_DIR is not set.");
}

describe.skipIf(APPRISE_API_DIR === undefined)("the preset for Apprise API", () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startApprise();
  }, START_MAX_MS);
  afterAll(() => server?.[Symbol.asyncDispose]());

  test("passes messages on to the services that are stored under its key", async () => {
    await using service = startReceiver();
    await storeConfiguration(server, "acme", service.url.replace("http:", "json:"));
    await using site = await createDeliverySite();
    const origin = `http://127.0.0.1:${server.port}`;
    await createByPreset(site, PRESETS.apprise, origin, { CONFIG_KEY: "acme" });
    await deliver(site, "monitor.down", HOSTILE);
    expect(site.deliveries()).toMatchObject([{ status: "delivered" }]);
    const [passed] = service.received;
    const { title, message } = JSON.parse(passed?.body ?? "{}");
    expect(title).toBe(`Monitor down: ${SHOWN}`);
    expect(message).toContain("/admin/monitors/mon_1");
  });
});
