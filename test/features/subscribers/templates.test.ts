import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { deleteComponent } from "../../../src/features/components/components";
import { addressHmac, ensureMailKey } from "../../../src/features/mail/tokens";
import { type ComposedMail, toMessage } from "../../../src/features/mail/compose";
import { readMailSettings } from "../../../src/features/mail/settings";
import { suppress } from "../../../src/features/mail/suppressions";
import { SIGN_UP_TEMPLATES } from "../../../src/features/subscribers/mails";
import { DAY_MS, HOUR_MS } from "../../../src/base/time";
import { parseMails } from "../../support/parsed-mail";
import { createSubscribingSite, type SubscribingSite } from "../../support/subscribing";

/** Composes the newest mail of a site. */
function compose(site: SubscribingSite): ComposedMail | "unwanted" | undefined {
  const { ctx } = site.app;
  const mail = site.mails().at(-1);
  const settings = readMailSettings(ctx);
  if (!mail || !settings) throw new Error("there is no mail");
  return SIGN_UP_TEMPLATES[mail.template]?.(mail, { ctx, settings });
}

function composed(site: SubscribingSite): ComposedMail {
  const mail = compose(site);
  if (!mail || mail === "unwanted") throw new Error("the mail is unwanted");
  return mail;
}

const linksIn = ({ text }: ComposedMail) =>
  [...String(text).matchAll(/https?:\/\/\S+/g)].map(([link]) => link);

const post = ({ app }: SubscribingSite, path: string) =>
  app.call(path, { method: "POST", form: {} });

/** Blocks an address as an admin does. */
function block({ app: { ctx } }: SubscribingSite, address: string): Promise<void> {
  return ctx.db.write((tx) => {
    const hmac = addressHmac(ensureMailKey(ctx, tx), address);
    suppress(ctx, tx, { addressHmac: hmac, reason: "blocked" });
  });
}

describe("the mails of sign-ups", () => {
  test("a confirmation has two parts, working links and no header of a list", async () => {
    await using site = await createSubscribingSite({
      mail: { from_name: "Acme Operations", reply_to: "help@example.com", footer: "Acme\n1 Road" },
    });
    const api = site.components["API"] ?? "";
    const confirm = await site.requested("ann@example.com", {
      scope: "selection",
      component: [api],
    });
    const mail = composed(site);
    const [parsed] = await parseMails([toMessage(mail)]);
    expect(parsed?.defects).toEqual([]);
    expect(parsed?.from).toEqual({ name: "Acme Operations", address: "status@example.com" });
    expect(parsed?.headers).toMatchObject({
      To: ["ann@example.com"],
      "Reply-To": ["help@example.com"],
      Subject: ["Confirm your subscription to Acme"],
      "Auto-Submitted": ["auto-generated"],
      "Message-ID": [`<${site.mails()[0]?.id}@example.com>`],
    });
    const names = Object.keys(parsed?.headers ?? {}).join(" ");
    expect(names).not.toMatch(/list-|precedence/i);
    expect(linksIn(mail)).toEqual([
      `https://status.test${confirm}`,
      `https://status.test${site.path("decline", site.requests()[0] ?? { id: "" })}`,
    ]);
    for (const part of [String(mail.text), String(mail.html)]) {
      expect(part).toContain("API");
      expect(part).toContain("1 Road");
    }
    expect((await post(site, confirm)).status).toBe(303);
  });

  test("a selection whose components were all removed is not called the whole page", async () => {
    await using site = await createSubscribingSite();
    const api = site.components["API"] ?? "";
    await site.requested("ann@example.com", { scope: "selection", component: [api] });
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteComponent(ctx, tx, api, CLI_ACTOR));
    expect(composed(site).text).toContain("About: no component");
    await site.requested("bob@example.com");
    expect(composed(site).text).toContain("About: everything on the page");
  });

  test("links use the domain of a public page", async () => {
    await using site = await createSubscribingSite({ custom_domains: ["status.acme.example"] });
    await site.requested();
    for (const link of linksIn(composed(site))) {
      expect(link).toStartWith("https://status.acme.example/mail/");
    }
  });

  test("a reminder has the link to manage and one that confirms the new choices", async () => {
    await using site = await createSubscribingSite();
    const subscriber = await site.subscribed();
    await site.app.clock.advance(HOUR_MS);
    const confirm = await site.requested("ann@example.com", { events: ["status"] });
    const mail = composed(site);
    expect(mail.subject).toBe("You are subscribed already to Acme");
    expect(linksIn(mail)).toEqual([
      `https://status.test${site.path("manage", subscriber)}`,
      `https://status.test${confirm}`,
    ]);
    expect((await post(site, confirm)).status).toBe(303);
    expect(site.subscribers().map(({ events }) => events)).toEqual([["status"]]);
  });

  test("a mail that is not wanted any more is not written", async () => {
    const ends: [string, (site: SubscribingSite, link: string) => Promise<unknown>][] = [
      ["confirmed", (site, link) => post(site, link)],
      ["expired", (site) => site.app.clock.advance(7 * DAY_MS)],
      ["private", (site) => site.change({ visibility: "private" })],
      ["without subscriptions", (site) => site.change({ mail: { subscriptions: false } })],
      ["blocked", (site) => block(site, "ann@example.com")],
      ["declined", (site) => post(site, site.path("decline", site.requests()[0] ?? { id: "" }))],
    ];
    for (const [name, end] of ends) {
      await using site = await createSubscribingSite();
      const link = await site.requested();
      expect(compose(site), name).not.toBe("unwanted");
      await end(site, link);
      expect(compose(site), name).toBe("unwanted");
    }
  });

  test("a reminder is not written after unsubscribing", async () => {
    await using site = await createSubscribingSite();
    const subscriber = await site.subscribed();
    await site.app.clock.advance(HOUR_MS);
    await site.requested();
    await site.app.call(site.path("unsubscribe", subscriber), {
      form: { "List-Unsubscribe": "One-Click" },
    });
    expect(compose(site)).toBe("unwanted");
  });
});
