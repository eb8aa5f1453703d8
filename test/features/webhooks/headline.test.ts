import { expect, test } from "bun:test";
import { startDelivering } from "../../../src/features/webhooks/deliver/deliverer";
import { readHeadline } from "../../../src/features/status/snapshots";
import { createTestEgress } from "../../support/egress";
import { startReceiver } from "../../support/receiver";
import { createWebhookSite } from "../../support/webhook-site";

test("the statuspage format contains the headline of the page", async () => {
  await using receiver = startReceiver();
  const outboundAllow = "127.0.0.0/8";
  await using site = await createWebhookSite({ env: { ALLCLEAR_OUTBOUND_ALLOW: outboundAllow } });
  const { app, components } = site;
  const { egress } = await createTestEgress({}, { clock: app.clock, outboundAllow });
  const deliverer = startDelivering(app.ctx, egress, readHeadline);
  await site.create({ url: receiver.url, format: "statuspage" });
  const key = await app.keyWith("write:components", "write:incidents");
  const set = (name: string, status: string) =>
    app.call(`/api/v1/components/${components[name]}`, { method: "PATCH", key, json: { status } });
  const shown = async () => {
    await deliverer.whenIdle();
    return JSON.parse(receiver.received.at(-1)?.body ?? "").page;
  };

  await set("API", "major_outage");
  await set("Web", "degraded_performance");
  expect(await shown()).toEqual({
    id: site.pageId,
    status_indicator: "major",
    status_description: "Partial System Outage",
  });
  const json = { page: "acme", name: "Down", body: "All of it.", impact_override: "critical" };
  await app.call("/api/v1/incidents", { method: "POST", key, json });
  await set("API", "operational");
  expect(await shown()).toMatchObject({
    status_indicator: "critical",
    status_description: "Major System Outage",
  });
  await deliverer.stop(0);
});
