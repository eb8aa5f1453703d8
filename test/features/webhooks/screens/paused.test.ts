import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { MINUTE_MS } from "../../../../src/base/time";
import { createDeliverySite } from "../../../support/delivery-site";
import { readHtml } from "../../../support/html";
import { startReceiver } from "../../../support/receiver";
import { createWebhookDashboard, WEBHOOK_LIST } from "../../../support/webhook-dashboard";
import { createMonitor } from "../../../support/examined";

/** The test's clock starts at 12:00:00. */
const TITLE = "Paused by the receiver until 12:01:30";

test("the screens of a paused webhook say until when and why nothing is sent, and no longer after it", async () => {
  await using receiver = startReceiver(
    () => new Response("slow down", { status: 429, headers: { "Retry-After": "90" } }),
  );
  await using site = await createDeliverySite();
  await using dashboard = await createWebhookDashboard({ app: site.app });
  const { id } = await site.endpoint(receiver.url);
  const home = `${WEBHOOK_LIST}/${id}`;
  const { ctx } = site.app;
  const { row: monitor } = await ctx.db.write(
    (tx) => createMonitor(ctx, tx, { type: "push", name: "Nightly job" }, CLI_ACTOR).record,
  );
  await site.recordEvents("cmp_1", "cmp_2");
  await site.idle();
  const open = async (path: string) => readHtml((await dashboard.open(path)).text);

  const list = await open(WEBHOOK_LIST);
  expect(list.texts("td .state").at(0)).toBe("Paused");
  expect(list.texts("tbody .cell-note")).toContain("by the receiver until 12:01:30");
  const detail = await open(home);
  expect(detail.texts(".notice").join()).toContain(TITLE);
  expect(detail.texts(".notice").join()).toContain("2 events are pending.");
  expect(detail.texts("main").join()).not.toContain("failing");
  // The refusal is no attempt, and the next one comes after the pause.
  expect(detail.texts("tbody .cell-note")).toContain("next in 2 min");
  const [delivery = ""] = detail.attributes(".row-link", "href");
  expect((await open(delivery)).texts("#delivery-facts").join()).toContain("0, next in 2 min");

  const notified = async () =>
    (await open(`/admin/monitors/${monitor.id}`)).texts("#monitor-notified").join();
  expect(await notified()).toContain("Webhook · paused by the receiver");

  receiver.answer = () => 200;
  await site.pass(2 * MINUTE_MS);
  for (const path of [WEBHOOK_LIST, home]) {
    // oxlint-disable-next-line no-await-in-loop
    expect((await open(path)).texts("main").join()).not.toContain("Paused");
  }
  expect(await notified()).not.toContain("·");
});
