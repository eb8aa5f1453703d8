import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { startImport } from "../../src/imports/start";
import { listAllWebhooks } from "../../src/features/webhooks/store";
import { createEgress } from "../../src/egress/egress";
import { findReceivers } from "../../src/imports/import";
import { createTestClock } from "../support/clock";
import { foundMonitor, foundPage, foundWebhook } from "../support/found-objects";
import { createImportSite } from "../support/import-site";
import { listMails } from "../support/mail-rows";
import { updateWebhook } from "../support/examined";

const MAIL = {
  ALLCLEAR_SMTP_HOST: "relay.example",
  ALLCLEAR_MAIL_FROM: "status@mail.example",
};

/** Site with access to its webhooks. */
async function createWebhookSite(env: Record<string, string> = {}) {
  const site = await createImportSite({ env });
  const webhooks = () => listAllWebhooks(site.app.ctx.db, {});
  const start = (id: string | null) =>
    site.app.ctx.db.write((tx) => startImport(site.app.ctx, tx, id ?? "", CLI_ACTOR));
  return Object.assign(site, { webhooks, start });
}

describe("an import of webhooks", () => {
  test("binds them to their page and monitors", async () => {
    await using site = await createWebhookSite();
    const report = await site.importFound({
      pages: [foundPage("1")],
      monitors: [foundMonitor("1"), foundMonitor("2")],
      webhooks: [
        foundWebhook("1", { monitors: ["monitor:2", "monitor:404"], page: "page:1" }),
        foundWebhook("2"),
        foundWebhook("3", { page: "page:404" }),
      ],
    });
    expect(report.counts).toEqual({ created: 5, not_moved: 1 });
    const [page, , monitor] = report.items.map(({ target }) => target?.id);
    expect(site.webhooks()).toMatchObject([
      { pageId: page, monitors: [monitor], managedBy: "import", enabled: true },
      { pageId: null, monitors: ["*"], description: "Webhook 2" },
    ]);
  });

  test("finds the addresses of their receivers, of those that have a name", async () => {
    const lookups: string[] = [];
    const lookup = (name: string) => {
      lookups.push(name);
      return name === "ntfy.lan" ? Promise.resolve(["10.0.0.7"]) : Promise.reject(new Error("no"));
    };
    const deps = { clock: createTestClock(), allowedNetworks: [], lookup };
    const urls = [
      "http://ntfy.lan/a",
      "https://ntfy.lan/b",
      "http://gone.lan/",
      "http://10.1.1.1/",
      "https://ntfy.sh/a",
      "https://prod-01.westeurope.logic.azure.com/a",
    ];
    const webhooks = [...urls, "mailto:ops@ntfy.lan", "no URL"].map((url) =>
      foundWebhook(url, { body: { url } }),
    );
    const receivers = await findReceivers(createEgress(deps), { webhooks });
    expect([...receivers]).toEqual([["ntfy.lan", ["10.0.0.7"]]]);
    expect(lookups.toSorted()).toEqual(["gone.lan", "ntfy.lan"]);
  });

  test("disables those whose name leads to this machine, in the plan as in the import", async () => {
    await using site = await createWebhookSite();
    const webhooks = [foundWebhook("1", { body: { url: "http://localhost:8080/hook" } })];
    const plan = await site.perform({ webhooks }, { isDryRun: true });
    expect([plan.id, plan.counts]).toEqual([null, { disabled: 1 }]);
    const report = await site.perform({ webhooks });
    expect(report.items).toMatchObject([{ verdict: "disabled" }]);
    expect(report.to_do).toMatchObject([expect.stringContaining("127.0.0.1")]);
    expect(site.webhooks()).toMatchObject([{ enabled: false, url: "http://localhost:8080/hook" }]);
  });

  test("replaces settings, and removes those that are gone from the source", async () => {
    await using site = await createWebhookSite();
    const ntfy = (settings: Record<string, unknown>) =>
      foundWebhook("1", { body: { url: "https://ntfy.sh/alerts", format: "ntfy", settings } });
    await site.importFound({ webhooks: [ntfy({ token: "tk_secret" })] });
    expect(site.webhooks()[0]?.settings).toEqual({ token: "tk_secret" });
    const { counts } = await site.importFound({ webhooks: [ntfy({})] });
    expect([counts, site.webhooks()[0]?.settings]).toEqual([{ updated: 1 }, {}]);
  });

  test("disables those whose receivers are not allowed, and says how to allow them", async () => {
    await using site = await createWebhookSite({ ALLCLEAR_OUTBOUND_ALLOW: "10.9.0.0/16" });
    const urls = [
      "http://192.168.1.5:8080/gotify",
      "http://10.9.1.1/hook",
      "http://ntfy.lan/alerts",
      "http://169.254.169.254/latest",
    ];
    const webhooks = urls.map((url, index) => foundWebhook(`${index}`, { body: { url } }));
    const receivers = new Map([["ntfy.lan", ["10.0.0.7"]]]);
    const report = await site.importFound({ webhooks }, { receivers });
    expect(report.items.map(({ verdict }) => verdict)).toEqual([
      "disabled",
      "created",
      "disabled",
      "not_moved",
    ]);
    expect(report.items[0]?.reason).toBe(
      "Webhooks may not reach 192.168.1.5: allow its network, and enable it.",
    );
    expect(report.to_do).toEqual([
      "To let webhooks reach their receivers, set ALLCLEAR_OUTBOUND_ALLOW=10.9.0.0/16,192.168.1.5,10.0.0.7 or add the networks in Settings → General → Allowed networks, and enable the webhooks.",
    ]);
    expect(site.webhooks().map(({ enabled }) => enabled)).toEqual([false, true, false]);
    const again = await site.importFound({ webhooks }, { receivers });
    expect(again.counts).toEqual({ unchanged: 3, not_moved: 1 });
  });

  test("creates those for e-mail only where mail is set up, and asks nobody to confirm", async () => {
    const email = foundWebhook("1", { body: { url: "mailto:ops@example.com", format: "email" } });
    await using without = await createWebhookSite();
    const rejected = await without.importFound({ webhooks: [email] });
    expect(rejected.items).toMatchObject([{ verdict: "not_moved" }]);
    expect(rejected.items[0]?.reason).toMatch(/^It needs mail, which needs .* first\.$/);
    await using site = await createWebhookSite(MAIL);
    const report = await site.importFound({ webhooks: [email] });
    expect(report.items).toMatchObject([
      {
        verdict: "disabled",
        reason:
          "Its address has to confirm that it wants alerts. Ask it on the page of the webhook.",
      },
    ]);
    expect(site.webhooks()).toMatchObject([{ enabled: true, confirmedAt: null }]);
    expect(listMails(site.app.ctx.db, {})).toEqual([]);
  });

  test("that creates them disabled, enables those that nobody edited once it is started", async () => {
    await using site = await createWebhookSite();
    const webhooks = [
      foundWebhook("1"),
      foundWebhook("2"),
      foundWebhook("3", { body: { enabled: false } }),
      foundWebhook("4", { disabled: "Its template has no counterpart." }),
    ];
    const report = await site.importFound({ webhooks }, { isPaused: true });
    expect(report.counts).toEqual({ created: 3, disabled: 1 });
    expect(site.webhooks().some(({ enabled }) => enabled)).toBe(false);
    const { ctx } = site.app;
    const [, edited] = report.items.map(({ target }) => target?.id ?? "");
    await ctx.db.write((tx) => {
      updateWebhook(ctx, tx, edited ?? "", { description: "Ours" }, CLI_ACTOR);
    });
    const { started, kept } = await site.start(report.id);
    expect(started).toMatchObject([{ kind: "webhook", ref: "webhook-1" }]);
    expect(kept).toMatchObject([{ kind: "webhook", name: "Ours" }]);
    expect(site.webhooks().map(({ enabled }) => enabled)).toEqual([true, false, false, false]);
    expect((await site.importFound({ webhooks })).counts).toEqual({ unchanged: 4 });
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "import.start",
      summary: "Started 0 monitors and 1 webhook",
    });
  });
});
