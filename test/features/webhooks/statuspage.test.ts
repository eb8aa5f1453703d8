import { expect, test } from "bun:test";
import { startDelivering } from "../../../src/features/webhooks/deliver/deliverer";
import { readHeadline } from "../../../src/features/status/snapshots";
import { createTestEgress } from "../../support/egress";
import { startReceiver } from "../../support/receiver";
import { createWebhookSite } from "../../support/webhook-site";

const OUTBOUND_ALLOW = "127.0.0.0/8";

/** A receiver of Statuspage's notifications, and what calls the API for its page. */
async function createStatuspageSite() {
  const receiver = startReceiver();
  const site = await createWebhookSite({ env: { ALLCLEAR_OUTBOUND_ALLOW: OUTBOUND_ALLOW } });
  const { app } = site;
  const { egress } = await createTestEgress(
    {},
    { clock: app.clock, outboundAllow: OUTBOUND_ALLOW },
  );
  const deliverer = startDelivering(app.ctx, egress, readHeadline);
  const webhook = await site.create({ url: receiver.url, format: "statuspage" });
  const key = await app.keyWith("write:components", "write:incidents", "write:maintenance");
  return {
    ...site,
    webhook,
    async send(method: string, path: string, json: unknown) {
      const answer = await app.call(`/api/v1/${path}`, { method, key, json });
      if (answer.status >= 400) throw new Error(answer.text);
      return answer.body;
    },
    async received() {
      await deliverer.whenIdle();
      return receiver.received.map(({ body }) => JSON.parse(body));
    },
    async [Symbol.asyncDispose]() {
      await deliverer.stop(0);
      await site[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

test("a Statuspage notification contains the current status of each component, also after the incident", async () => {
  await using site = await createStatuspageSite();
  const { API: api = "", Web: web = "" } = site.components;
  const of = async () =>
    (await site.received()).findLast(({ incident }) => incident)?.incident.components;
  await site.send("PATCH", `components/${web}`, { status: "degraded_performance" });
  const { id } = await site.send("POST", "incidents", {
    page: "acme",
    name: "Down",
    body: "All of it.",
    components: { [api]: "major_outage", [web]: "degraded_performance" },
  });
  expect(await of()).toMatchObject([
    { id: api, status: "major_outage" },
    { id: web, status: "degraded_performance" },
  ]);
  await site.send("POST", `incidents/${id}/updates`, { status: "resolved", body: "Over." });
  const after = await of();
  const shown = await Promise.all(
    [api, web].map(async (componentId) => {
      const key = await site.app.keyWith("read:status");
      return (await site.app.call(`/api/v1/components/${componentId}`, { key })).body.status;
    }),
  );
  expect(after.map(({ status }: { status: string }) => status)).toEqual(shown);
  expect(shown[0]).toBe("operational");
});

test("a Statuspage notification of a planned maintenance contains the current statuses of its components", async () => {
  await using site = await createStatuspageSite();
  const { API: api = "", Web: web = "" } = site.components;
  await site.send("PATCH", `components/${web}`, { status: "partial_outage" });
  await site.send("POST", "maintenance", {
    page: "acme",
    name: "Upgrade",
    body: "A minute.",
    components: [api, web],
    scheduled_for: new Date(site.app.clock.now() + 3_600_000).toISOString(),
    scheduled_until: new Date(site.app.clock.now() + 7_200_000).toISOString(),
  });
  expect((await site.received()).at(-1).incident.components).toMatchObject([
    { id: api, status: "operational" },
    { id: web, status: "partial_outage" },
  ]);
});

test("a test event in Statuspage's format contains a resolved incident of the default page", async () => {
  await using site = await createStatuspageSite();
  const { status } = await site.call(`/${site.webhook.id}/test`, { method: "POST" });
  expect(status).toBe(200);
  expect((await site.received()).at(-1)).toMatchObject({
    page: { id: site.pageId, status_indicator: "none" },
    incident: {
      id: expect.stringMatching(/./),
      page_id: site.pageId,
      name: "A test from Allclear",
      status: "resolved",
      impact: "none",
      shortlink: expect.stringMatching(/^https?:/),
      incident_updates: [{ status: "resolved", body: expect.stringMatching(/./) }],
      components: [],
    },
  });
});
