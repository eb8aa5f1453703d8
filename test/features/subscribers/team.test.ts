import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { parseMailAddress, type SuppressionReason } from "../../../src/base/mail-address";
import { addressHmac, findMailKey } from "../../../src/features/mail/tokens";
import { suppress } from "../../../src/features/mail/suppressions";
import { type InvitationResult, inviteSubscriber } from "../../../src/features/subscribers/sign-up";
import {
  invalidateLinks,
  removeSubscriber,
  updateSubscriber,
} from "../../../src/features/subscribers/subscribers";
import { DAY_MS, HOUR_MS } from "../../../src/base/time";
import { createSubscribingSite, type SubscribingSite } from "../../support/subscribing";

const WHOLE_PAGE = { scope: "page" as const, targets: [], events: ["incidents" as const] };

function invite(
  { app, page }: SubscribingSite,
  email = "ann@example.com",
  actor: typeof CLI_ACTOR | null = CLI_ACTOR,
): Promise<InvitationResult> {
  const address = parseMailAddress(email);
  if ("error" in address) throw new Error(address.error);
  const invitation = { pageId: page.id, address, choices: WHOLE_PAGE, source: "command" as const };
  return app.ctx.db.write((tx) => inviteSubscriber(app.ctx, tx, invitation, actor));
}

async function stop({ app }: SubscribingSite, email: string, reason: SuppressionReason) {
  const key = findMailKey(app.ctx.db);
  if (!key) throw new Error("there is no key yet");
  await app.ctx.db.write((tx) =>
    suppress(app.ctx, tx, { addressHmac: addressHmac(key, email), reason }),
  );
}

describe("an invitation by the team", () => {
  test("sends a mail, and its link subscribes with the choices and the origin of the consent", async () => {
    await using site = await createSubscribingSite();
    expect((await invite(site, "Ann@Example.com")).result).toBe("invited");
    expect(site.mails().map(({ template, recipient }) => [template, recipient])).toEqual([
      ["confirmation", "Ann@example.com"],
    ]);
    expect(site.subscribers()).toEqual([]);
    const [request] = site.requests();
    const link = site.path("confirm", { id: request?.id ?? "" });
    expect((await site.app.call(link, { method: "POST", form: {} })).status).toBe(303);
    const [subscriber] = site.subscribers();
    expect(subscriber).toMatchObject({ status: "active", consentSource: "command", scope: "page" });
    expect(subscriber?.consentText).toContain("Messages about Acme");
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "subscriber.add",
      summary: "Asked A…@example.com to subscribe to Acme",
    });
  });

  test("of an import writes no audit entry of its own", async () => {
    await using site = await createSubscribingSite();
    const before = site.app.audit().length;
    expect((await invite(site, "ann@example.com", null)).result).toBe("invited");
    expect(site.app.audit()).toHaveLength(before);
  });

  test("sends nothing to a subscriber, nor to someone who had such a mail a short time ago", async () => {
    await using site = await createSubscribingSite();
    const subscriber = await site.subscribed();
    expect(await invite(site)).toMatchObject({ result: "subscribed", subscriber });
    await invite(site, "bob@example.com");
    expect(await invite(site, "bob+news@example.com")).toEqual({ result: "limited" });
    expect(site.mails()).toHaveLength(2);
  });

  test("sends nothing to someone who declined or is blocked, and says why", async () => {
    await using site = await createSubscribingSite();
    await site.subscribed();
    for (const reason of ["declined", "blocked"] as const) {
      await stop(site, `${reason}@example.com`, reason);
      expect(await invite(site, `${reason}@example.com`)).toEqual({ result: "suppressed", reason });
    }
    expect(site.mails()).toHaveLength(1);
  });

  test("asks a subscriber whose mails bounced to confirm again, once in 7 days", async () => {
    await using site = await createSubscribingSite();
    await site.subscribed();
    await stop(site, "ann@example.com", "bounced");
    site.worker.cancel();
    await site.app.clock.advance(8 * DAY_MS);
    expect((await invite(site)).result).toBe("invited");
    await site.app.clock.advance(DAY_MS);
    expect((await invite(site)).result).toBe("limited");
    const link = site.path("confirm", { id: site.requests().at(-1)?.id ?? "" });
    expect((await site.app.call(link, { method: "POST", form: {} })).status).toBe(303);
    expect(site.suppressions()).toEqual([]);
  });

  test("is not counted as a sign-up by visitors", async () => {
    await using site = await createSubscribingSite();
    for (let index = 0; index < 250; index++) {
      await invite(site, `person${index}@d${index}.example`, null);
    }
    await site.app.clock.advance(2 * HOUR_MS);
    // Hardly any of them was confirmed, which would lower the limit of visitors to 100.
    for (let index = 0; index < 101; index++) {
      expect((await site.signUp({ email: `visitor${index}@example.com` })).status).toBe(303);
    }
  });
});

describe("a subscriber whom the team manages", () => {
  test("keeps the links after changed choices, and loses them when they are made invalid", async () => {
    await using site = await createSubscribingSite();
    const link = await site.requested();
    await site.app.call(link, { method: "POST", form: {} });
    const { ctx } = site.app;
    const row = () => {
      const [found] = site.subscribers();
      if (!found) throw new Error("there is no subscriber");
      return found;
    };
    const manage = site.path("manage", row());
    const choices = {
      ...WHOLE_PAGE,
      scope: "selection" as const,
      targets: [site.components["API"] ?? ""],
    };
    const change = () => ctx.db.write((tx) => updateSubscriber(ctx, tx, row(), choices, CLI_ACTOR));
    expect(await change()).toBe(true);
    expect(await change()).toBe(false);
    expect(site.choices(row())).toEqual(choices);
    expect((await site.app.call(manage)).status).toBe(200);
    expect((await site.app.call(link)).status).toBe(200);
    const unsubscribe = site.path("unsubscribe", row());
    await ctx.db.write((tx) => invalidateLinks(ctx, tx, row(), CLI_ACTOR));
    expect((await site.app.call(manage)).status).toBe(404);
    expect((await site.app.call(link)).status).toBe(404);
    const again = await site.app.call(link, { method: "POST", form: {} });
    expect([again.status, again.headers.get("location")]).toEqual([404, null]);
    expect((await site.app.call(site.path("manage", row()))).status).toBe(200);
    expect((await site.app.call(unsubscribe)).status).toBe(200);
    expect(site.app.audit().slice(-2)).toMatchObject([
      { action: "subscriber.update", summary: "Changed the choices of a…@example.com on Acme" },
      { action: "subscriber.update", summary: "Made the links of a…@example.com on Acme invalid" },
    ]);
  });

  test("is removed like someone who unsubscribed, or erased", async () => {
    await using site = await createSubscribingSite();
    const { ctx } = site.app;
    const ann = await site.subscribed();
    const bob = await site.subscribed("bob@example.com");
    await ctx.db.write((tx) => {
      removeSubscriber(ctx, tx, ann, { erase: false }, CLI_ACTOR);
      removeSubscriber(ctx, tx, bob, { erase: true }, CLI_ACTOR);
    });
    expect(site.subscribers().map(({ id, status }) => [id, status])).toEqual([
      [ann.id, "unsubscribed"],
    ]);
    expect(
      site
        .suppressions()
        .map(({ reason }) => reason)
        .sort(),
    ).toEqual(["erased", "unsubscribed"]);
    expect(site.app.audit().slice(-2)).toMatchObject([
      { action: "subscriber.remove", summary: "Removed a…@example.com from Acme" },
      { action: "subscriber.erase", summary: "Erased b…@example.com from Acme" },
    ]);
  });
});
