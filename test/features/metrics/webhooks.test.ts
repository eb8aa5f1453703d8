import { describe, expect, test } from "bun:test";
import { deliveryFamilies } from "../../../src/features/metrics/families";
import { deleteWebhook } from "../../../src/features/webhooks/webhooks";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createDeliverySite, type DeliverySite } from "../../support/delivery-site";
import { startReceiver } from "../../support/receiver";
import { scrape } from "../../support/scrape";

const MINUTE_S = 60;

/** Creates a site whose deliveries are part of the metrics, like those of a running server. */
async function createSite(): Promise<{ site: DeliverySite; key: string }> {
  const site = await createDeliverySite();
  const { app } = site;
  app.app.metrics.add(...deliveryFamilies(app.ctx.db, () => site.deliverer.stats()));
  return { site, key: await app.keyWith("read:analytics") };
}

describe("metrics of webhooks", () => {
  test("the metrics contain waiting deliveries and the age of the oldest by webhook", async () => {
    await using down = startReceiver(() => 503);
    await using up = startReceiver();
    const { site, key } = await createSite();
    await using _ = site;
    const [broken, whole] = [await site.endpoint(down.url), await site.endpoint(up.url)];
    const of = async (name: string, webhook: string) =>
      (await scrape(site.app, key)).value(`allclear_webhook_${name}`, { webhook });
    expect(await of("deliveries_waiting", broken.id)).toBe(0);
    expect(await of("oldest_delivery_age_seconds", broken.id)).toBe(0);

    await site.recordEvents("cmp_1");
    await site.pass(MINUTE_S * 1_000);
    await site.recordEvents("cmp_2", "cmp_3");
    await site.pass(MINUTE_S * 1_000);
    expect(await of("deliveries_waiting", broken.id)).toBe(3);
    expect(await of("oldest_delivery_age_seconds", broken.id)).toBe(2 * MINUTE_S);
    expect(await of("deliveries_waiting", whole.id)).toBe(0);
    expect(await of("oldest_delivery_age_seconds", whole.id)).toBe(0);

    down.answer = () => 200;
    await site.pass(60 * MINUTE_S * 1_000);
    expect(await of("deliveries_waiting", broken.id)).toBe(0);
    expect(await of("oldest_delivery_age_seconds", broken.id)).toBe(0);
  });

  test("the metrics count successful, failed and refused attempts by webhook, from 0", async () => {
    await using down = startReceiver((_message, count) =>
      count <= 2 ? 500 : new Response(null, { status: 429, headers: { "Retry-After": "60" } }),
    );
    await using up = startReceiver();
    const { site, key } = await createSite();
    await using _ = site;
    const [broken, whole] = [await site.endpoint(down.url), await site.endpoint(up.url)];
    const triesOf = async (webhook: string) => {
      const { value } = await scrape(site.app, key);
      return ["succeeded", "failed", "refused"].map((outcome) =>
        value("allclear_webhook_tries_total", { webhook, outcome }),
      );
    };
    const before = await scrape(site.app, key);
    expect(before.families.get("allclear_webhook_tries_total")?.samples).toHaveLength(6);
    expect(await triesOf(broken.id)).toEqual([0, 0, 0]);

    await site.recordEvents("cmp_1", "cmp_2");
    await site.idle();
    expect(await triesOf(whole.id)).toEqual([2, 0, 0]);
    expect(await triesOf(broken.id)).toEqual([0, 2, 0]);
    await site.pass(10_000);
    const [, failed = 0, refused = 0] = await triesOf(broken.id);
    expect(failed).toBe(2);
    expect(refused).toBeGreaterThan(0);
    expect((await scrape(site.app, key)).value("allclear_webhook_tries_running")).toBe(0);
  });

  test("the metrics contain the number of running attempts", async () => {
    const answer = Promise.withResolvers<number>();
    await using slow = startReceiver(() => answer.promise);
    const { site, key } = await createSite();
    await using _ = site;
    await site.endpoint(slow.url);
    await site.recordEvents("cmp_1", "cmp_2");
    await slow.until(2);
    expect((await scrape(site.app, key)).value("allclear_webhook_tries_running")).toBe(2);
    answer.resolve(200);
    await site.idle();
    expect((await scrape(site.app, key)).value("allclear_webhook_tries_running")).toBe(0);
  });

  test("the metrics contain no URL or secret of a webhook, and no waiting deliveries of a deleted one", async () => {
    await using down = startReceiver(() => 500);
    const { site, key } = await createSite();
    await using _ = site;
    const { app } = site;
    const { id, secret, url } = await site.endpoint(down.url);
    await site.recordEvents("cmp_1");
    await site.idle();
    const { text } = await scrape(app, key);
    expect(text).toContain(id);
    expect(text).not.toContain(url);
    expect(text).not.toContain(secret);

    await app.ctx.db.write((tx) => deleteWebhook(app.ctx, tx, id, CLI_ACTOR));
    await site.idle();
    const { families, value } = await scrape(app, key);
    expect(families.get("allclear_webhook_deliveries_waiting")?.samples).toEqual([]);
    // A counter never goes back.
    expect(value("allclear_webhook_tries_total", { webhook: id, outcome: "failed" })).toBe(1);
  });
});
