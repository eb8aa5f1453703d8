import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { findMailKey, tokenOf } from "../../src/features/mail/tokens";
import { setMailSettings } from "../../src/features/mail/settings";
import { getWebhookRecord } from "../../src/features/webhooks/records";
import { describeWithBrowser } from "../support/browser";
import { HOME_HOST, openSite } from "../support/browser-site";
import { isWiderThanWindow } from "../support/public-documents";
import { RELAY } from "../support/subscribing";
import { listMails } from "../support/mail-rows";
import { createWebhook } from "../support/examined";

describeWithBrowser("confirming alerts by e-mail", (browser) => {
  test.each(["light", "dark"] as const)(
    "works on a narrow phone and is accessible, in the %s theme",
    async (colorScheme) => {
      await using site = await openSite(browser(), { host: HOME_HOST });
      const { ctx } = site.app;
      ctx.baseUrl = site.origin;
      const { row } = await ctx.db.write((tx) => {
        setMailSettings(ctx, tx, RELAY, CLI_ACTOR);
        return createWebhook(
          ctx,
          tx,
          { url: "mailto:oncall@example.com", format: "email" },
          CLI_ACTOR,
        );
      });
      const [mail] = listMails(ctx.db, {});
      const key = findMailKey(ctx.db);
      if (!mail || !key) throw new Error("no confirmation was queued");
      const path = `/mail/alerts/${tokenOf(key, "alerts", { id: mail.id })}`;
      const look = { viewport: { width: 320, height: 640 }, colorScheme };
      const { page } = await site.visit(path, look);
      expect(await isWiderThanWindow(page)).toBe(false);
      expect(await site.axe(page)).toEqual([]);
      await page.getByRole("button", { name: "Send me alerts" }).click();
      await page.getByRole("heading", { name: "Alerts are on" }).waitFor();
      expect(await site.axe(page)).toEqual([]);
      expect(getWebhookRecord(ctx.db, row.id, ctx.clock.now()).confirmedAt).toBeNumber();
      await page.goto(site.origin + path);
      await page.getByRole("button", { name: "Stop alerts" }).click();
      await page.getByRole("heading", { name: "Alerts are off" }).waitFor();
      expect(getWebhookRecord(ctx.db, row.id, ctx.clock.now()).confirmedAt).toBeNull();
    },
    600_000,
  );
});
