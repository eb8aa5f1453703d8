import { describe, expect, test } from "bun:test";
import { trimDeliveries } from "../../../src/features/webhooks/deliveries";
import { writeBatchedDeliveries } from "../../../src/features/webhooks/enqueue";
import { DAY_MS } from "../../../src/base/time";
import { createDeliverySite, type DeliverySite } from "../../support/delivery-site";
import { startReceiver } from "../../support/receiver";

const ENDPOINTS = 30;
const COMPONENTS = 40;
const ALL = ENDPOINTS * COMPONENTS;

/** A page, endpoints at `url`, and a key that changes all components of the page at once. */
async function createSite(url: string, endpointCount = ENDPOINTS) {
  const site = await createDeliverySite();
  const names = Array.from({ length: COMPONENTS }, (_, index) => `Component ${index}`);
  const { components } = await site.app.page({ slug: "acme" }, names);
  const ids = Object.values(components);
  const endpoints: string[] = [];
  for (let index = 0; index < endpointCount; index++) {
    endpoints.push((await site.endpoint(`${url}/${index}`)).id);
  }
  const key = await site.app.keyWith("write:components");
  const change = async (status: string, changed: readonly string[] = ids) => {
    const json = { components: Object.fromEntries(changed.map((id) => [id, status])) };
    const answer = await site.app.call("/api/v1/components", { method: "PATCH", key, json });
    expect(answer.status).toBe(200);
  };
  return { site, ids, endpoints, change };
}

const writeSlice = ({ app: { ctx } }: DeliverySite) =>
  ctx.db.write((tx) => writeBatchedDeliveries(ctx, tx));

describe("many deliveries of one change", () => {
  test("many deliveries of one change are written after it, at most 250 per transaction", async () => {
    await using receiver = startReceiver();
    const { site, change } = await createSite(receiver.url);
    await using _ = site;
    await site.deliverer.stop(0);
    await change("major_outage");
    expect(site.app.events()).toHaveLength(COMPONENTS);
    const counts = [site.deliveries().length];
    while (await writeSlice(site)) counts.push(site.deliveries().length);
    expect(counts).toEqual([0, 250, 500, 750, 1_000, ALL]);
  });

  test("many deliveries reach each endpoint of the time of the change once, also after a restart", async () => {
    await using receiver = startReceiver();
    const { site, change } = await createSite(receiver.url);
    await using _ = site;
    await site.deliverer.stop(0);
    await change("major_outage");
    await writeSlice(site);
    const later = await site.endpoint(`${receiver.url}/later`);
    await site.restart();
    await site.idle();
    expect(receiver.received).toHaveLength(ALL);
    const rows = site.deliveries();
    expect(new Set(rows.map((row) => `${row.webhookId} ${row.eventId}`)).size).toBe(ALL);
    expect(rows.filter((row) => row.status !== "delivered" || row.tries !== 1)).toEqual([]);
    expect(rows.filter(({ webhookId }) => webhookId === later.id)).toEqual([]);
  });

  test("many deliveries are sent by a running server without a further change", async () => {
    await using receiver = startReceiver();
    const { site, change } = await createSite(receiver.url);
    await using _ = site;
    await change("major_outage");
    await site.idle();
    expect(receiver.received).toHaveLength(ALL);
  });

  test("reach all of 300 endpoints at once", async () => {
    await using receiver = startReceiver();
    const { site, ids, change } = await createSite(receiver.url, 300);
    await using _ = site;
    await change("major_outage", ids.slice(0, 1));
    await site.idle();
    expect(receiver.received).toHaveLength(300);
  });

  test("many deliveries are ordered before those of a later change of the same component", async () => {
    await using receiver = startReceiver();
    const { site, ids, endpoints, change } = await createSite(receiver.url);
    await using _ = site;
    await site.deliverer.stop(0);
    await change("major_outage");
    const last = ids.slice(-1);
    await change("operational", last);
    expect(site.deliveries()).toHaveLength(0);
    while (await writeSlice(site));
    const rows = site.deliveries().filter(({ subjectId }) => last.includes(subjectId));
    for (const endpoint of endpoints) {
      const order = rows
        .filter(({ webhookId }) => webhookId === endpoint)
        .map(({ eventId }) => eventId);
      expect(order).toHaveLength(2);
      expect(order).toEqual(order.toSorted());
    }
  });

  test("many deliveries are rolled back with their change", async () => {
    await using receiver = startReceiver();
    const { site } = await createSite(receiver.url);
    await using _ = site;
    const { ctx } = site.app;
    const undone = ctx.db.write((tx) => {
      for (let index = 0; index < COMPONENTS; index++) {
        const subjectId = `cmp_${index}`;
        const type = "component.status_changed";
        ctx.outbox.record(tx, { type, pageId: null, subjectId, data: {} });
      }
      throw new Error("undone");
    });
    expect(await undone.catch((error) => error.message)).toBe("undone");
    expect(await writeSlice(site)).toBe(false);
  });

  test("events are kept until all their deliveries are written", async () => {
    await using receiver = startReceiver();
    const { site, change } = await createSite(receiver.url);
    await using _ = site;
    await site.deliverer.stop(0);
    await change("major_outage");
    const { db } = site.app.ctx;
    const trim = () => db.write((tx) => trimDeliveries(tx, site.app.clock.now() + DAY_MS));
    expect(await trim()).toBe(false);
    expect(site.app.events()).toHaveLength(COMPONENTS);
    await site.restart();
    await site.idle();
    expect(receiver.received).toHaveLength(ALL);
    while (await trim());
    expect(site.app.events()).toEqual([]);
  });
});

describe("few deliveries of one change", () => {
  test("few deliveries are written in the transaction of their change", async () => {
    await using receiver = startReceiver();
    const { site, ids, change } = await createSite(receiver.url);
    await using _ = site;
    await site.deliverer.stop(0);
    await change("major_outage", ids.slice(0, 8));
    expect(site.deliveries()).toHaveLength(8 * ENDPOINTS);
  });
});
