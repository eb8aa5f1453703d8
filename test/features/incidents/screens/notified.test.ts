import { expect, test } from "bun:test";
import { deleteComponent } from "../../../../src/features/components/components";
import { listAllWebhooks, updateWebhookRow } from "../../../../src/features/webhooks/store";
import { setDeliveryProgress } from "../../../../src/features/webhooks/delivery-store";
import { listDeliveryRows } from "../../../../src/features/webhooks/log-store";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { NEWEST } from "../../../../src/base/ids";
import type { DeliveryStatus } from "../../../../src/base/webhook";
import { readHtml } from "../../../support/html";
import { createIncidentDashboard, incidentScreen } from "../../../support/incident-dashboard";
import { createWebhook } from "../../../support/examined";

test("the screen of an incident shows admins what became of its notifications", async () => {
  await using dashboard = await createIncidentDashboard();
  const { site } = dashboard;
  const { app } = site;
  const { ctx } = app;
  const add = (description: string, events = ["*"]) =>
    ctx.db.write((tx) =>
      createWebhook(ctx, tx, { url: "https://hooks.test/", description, events }, CLI_ACTOR),
    );
  const names = ["Delivered", "Failed", "Retried", "Queued", "By hand", "Given up"];
  for (const name of names) await add(name);
  await add("Monitors", ["monitor.down"]);
  const { id } = await site.open();
  await ctx.db.write((tx) => {
    const now = ctx.clock.now();
    const rows = new Map(listAllWebhooks(tx, {}).map((row) => [row.description, row]));
    const progress: [string, DeliveryStatus, number][] = [
      ["Delivered", "delivered", 1],
      ["Failed", "failed", 10],
      ["Retried", "pending", 1],
    ];
    for (const [name, status, tries] of progress) {
      const webhookId = rows.get(name)?.id ?? "";
      const query = { webhookId, before: NEWEST, status: null, limit: 1 };
      const [delivery] = listDeliveryRows(tx, query);
      const times = status === "pending" ? { nextTryAt: now + 60_000, finishedAt: null } : null;
      setDeliveryProgress(tx, {
        id: delivery?.row.id ?? "",
        status,
        tries,
        ...(times ?? { nextTryAt: null, finishedAt: now }),
      });
    }
    for (const [name, disabledReason] of [
      ["By hand", null],
      ["Given up", "The endpoint answered 410 Gone."],
    ] as const) {
      const row = rows.get(name);
      if (row) updateWebhookRow(tx, { ...row, enabled: false, disabledReason, disabledAt: now });
    }
  });
  const session = await app.signedIn("admin");
  const page = readHtml((await app.call(incidentScreen(id), { session })).text);
  const notes = page.texts("#notified .detail-note");
  expect(page.texts("#notified a").map((name, index) => `${name}: ${notes[index]}`)).toEqual([
    "Delivered: Delivered just now",
    "Failed: Failed just now",
    "Retried: No response, next attempt in 1 min",
    "Queued: Pending",
    "By hand: Disabled",
    "Given up: Disabled automatically",
  ]);
  expect(page.attributes("#notified svg", "class")).toEqual([
    "shape t-ok",
    "shape t-major",
    "shape t-degraded",
    "shape t-none hollow",
    "shape t-none hollow",
    "shape t-major",
  ]);
  const forEditors = readHtml((await dashboard.show(incidentScreen(id))).text);
  expect(forEditors.texts("#notified")).toEqual([]);
  expect(forEditors.texts("main label")).toContain("Notify 4 webhooks");
});

test("the screen of an incident names deleted components without a link", async () => {
  await using dashboard = await createIncidentDashboard();
  const { site } = dashboard;
  const { ctx } = site.app;
  const { id } = await site.open({
    components: { [site.api]: "major_outage", [site.web]: "partial_outage" },
  });
  await ctx.db.write((tx) => deleteComponent(ctx, tx, site.api, CLI_ACTOR));
  const page = readHtml((await dashboard.show(incidentScreen(id))).text);
  const changes = page.texts(".timeline-changes li");
  expect(changes.map((text) => text.split(/\s/)[0])).toEqual(["API", "Web"]);
  const web = `/admin/components/${site.web}`;
  expect(page.attributes(".timeline-changes a", "href")).toEqual([web]);
  expect(page.attributes("#affected a", "href")).toEqual([web]);
});
