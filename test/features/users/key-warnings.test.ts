import { describe, expect, test } from "bun:test";
import { CLI_ACTOR, userActor } from "../../../src/base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../../../src/base/time";
import { revokeKey } from "../../../src/features/keys/keys";
import { disableUser, setKeyWarnings, setRole } from "../../../src/features/users/users";
import type { UserResource } from "../../../src/features/users/wire";
import {
  type AccountMailSite,
  createAccountMailSite,
  GRACE,
  linksIn,
  OWNER,
  written,
} from "../../support/account-mail";
import { ACCOUNT, userWithPassword } from "../../support/dashboard";
import { createKey } from "../../support/examined";

const START = Date.parse("2026-03-10T12:00:00.000Z");

/** Creates a key that expires `days` after the start, two months ago or now, and returns its id. */
async function makeKey(
  { app }: AccountMailSite,
  name: string,
  days: number,
  creator?: UserResource,
  createdAt = START - 60 * DAY_MS,
): Promise<string> {
  const actor = creator ? userActor(creator) : CLI_ACTOR;
  const expires = toIso(START + days * DAY_MS);
  const input = { name, scopes: ["read:status" as const], expires };
  const { ctx } = app;
  const clock = { ...ctx.clock, now: () => createdAt };
  const { key } = await ctx.db.write((tx) => createKey({ ...ctx, clock }, tx, input, actor));
  return key.id;
}

/** Recipient and names of keys of each mail. */
async function mailed(site: AccountMailSite): Promise<string[]> {
  const lines: string[] = [];
  for (const mail of site.mails("expiring_keys")) {
    const composed = await site.compose(mail);
    const keys = composed === "unwanted" ? [composed] : String(composed.text).match(/key [A-D]\b/g);
    lines.push(`${mail.recipient}: ${String([...new Set(keys)])}`);
  }
  return lines;
}

/** Jumps to shortly before `days` after the start, and lets the last ten minutes pass. */
async function passUntil({ app }: AccountMailSite, days: number): Promise<void> {
  app.clock.setWallClock(START + days * DAY_MS - 10 * MINUTE_MS);
  await app.clock.advance(10 * MINUTE_MS);
}

describe("mails about expiring keys", () => {
  test("go to the creator 14 and 3 days ahead, once each", async () => {
    await using site = await createAccountMailSite();
    await makeKey(site, "key A", 30, site.grace);
    await passUntil(site, 16 - 0.01);
    expect(site.mails()).toEqual([]);
    await passUntil(site, 16.01);
    expect(await mailed(site)).toEqual([`${GRACE}: key A`]);
    const mail = await written(site.compose());
    expect(mail.subject).toBe("An API key expires in 14 days: key A");
    expect(mail.text).toContain("expires in 14 days, on 9 Apr 2026, 12:00 UTC");
    expect(site.mails()[0]).toMatchObject({ class: 2, subjectId: site.grace.id });
    await passUntil(site, 26.9);
    expect(site.mails()).toHaveLength(1);
    await passUntil(site, 27.01);
    expect((await written(site.compose())).subject).toBe("An API key expires in 3 days: key A");
    await passUntil(site, 40);
    expect(site.mails()).toHaveLength(2);
  });

  test("go to all enabled owners if no enabled user created the key", async () => {
    await using site = await createAccountMailSite();
    const { app, grace } = site;
    await userWithPassword(app, "olga@example.com", "owner");
    const off = await userWithPassword(app, "otto@example.com", "owner");
    await userWithPassword(app, "adam@example.com", "admin");
    await makeKey(site, "key A", 14);
    await makeKey(site, "key B", 14, grace);
    await app.ctx.db.write((tx) => {
      disableUser(app.ctx, tx, grace.id, CLI_ACTOR);
      disableUser(app.ctx, tx, off.id, CLI_ACTOR);
    });
    await app.clock.advance(2 * MINUTE_MS);
    expect((await mailed(site)).toSorted()).toEqual([
      `${OWNER}: key A,key B`,
      "olga@example.com: key A,key B",
    ]);
    expect((await written(site.compose())).text).toContain("you are an owner");
  });

  test("name all keys of a day in one mail, so that none comes late", async () => {
    await using site = await createAccountMailSite();
    const { grace } = site;
    await makeKey(site, "key A", 14, grace);
    await makeKey(site, "key B", 14.9, grace);
    await makeKey(site, "key C", 3.5, grace);
    await makeKey(site, "key D", 15.5, grace);
    await site.app.clock.advance(2 * MINUTE_MS);
    expect(await mailed(site)).toEqual([`${GRACE}: key C,key A,key B`]);
    expect((await written(site.compose())).subject).toBe("3 API keys expire soon");
    await passUntil(site, 1.4);
    expect(site.mails()).toHaveLength(1);
    await passUntil(site, 1.6);
    expect((await mailed(site)).at(-1)).toBe(`${GRACE}: key D`);
    await passUntil(site, 3);
    expect(site.mails()).toHaveLength(2);
  });

  test("a user gets at most one a day", async () => {
    await using site = await createAccountMailSite();
    await makeKey(site, "key A", 14, site.grace);
    await site.app.clock.advance(2 * MINUTE_MS);
    await makeKey(site, "key B", 5, site.grace);
    await makeKey(site, "key C", 5);
    await site.app.clock.advance(HOUR_MS);
    expect(await mailed(site)).toEqual([`${GRACE}: key A`, `${OWNER}: key C`]);
    await passUntil(site, 0.99);
    expect(site.mails()).toHaveLength(2);
    await passUntil(site, 1.02);
    expect((await mailed(site)).at(-1)).toBe(`${GRACE}: key B`);
  });

  test("after downtime only the nearer warning is sent", async () => {
    await using site = await createAccountMailSite();
    await makeKey(site, "key A", 30, site.grace);
    await site.setUpMail(false);
    await passUntil(site, 28);
    expect(site.mails()).toEqual([]);
    await site.setUpMail(true);
    await site.app.clock.advance(HOUR_MS);
    expect(await mailed(site)).toEqual([`${GRACE}: key A`]);
    await passUntil(site, 35);
    expect(site.mails()).toHaveLength(1);
  });

  test("say nothing of keys that are revoked, have expired or never expire", async () => {
    await using site = await createAccountMailSite();
    const { app, grace } = site;
    const revoked = await makeKey(site, "key A", 5, grace);
    await makeKey(site, "key B", 0.0001, grace);
    await app.createKey({ name: "key C" });
    await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, revoked, CLI_ACTOR));
    await app.clock.advance(HOUR_MS);
    expect(site.mails()).toEqual([]);
  });

  test("leave out the steps that a key of a short life never had", async () => {
    await using site = await createAccountMailSite();
    await makeKey(site, "key A", 7, site.grace, START);
    await makeKey(site, "key B", 2, site.grace, START);
    await passUntil(site, 2.9);
    expect(site.mails()).toEqual([]);
    await passUntil(site, 4.01);
    expect(await mailed(site)).toEqual([`${GRACE}: key A`]);
  });

  test("leave out a key that was revoked before the mail is written, and are not sent without any", async () => {
    await using site = await createAccountMailSite();
    const { app, grace } = site;
    const ids = [await makeKey(site, "key A", 5, grace), await makeKey(site, "key B", 6, grace)];
    await app.clock.advance(2 * MINUTE_MS);
    const revoke = (id = "") => app.ctx.db.write((tx) => revokeKey(app.ctx, tx, id, CLI_ACTOR));
    await revoke(ids[0]);
    expect(await mailed(site)).toEqual([`${GRACE}: key B`]);
    await revoke(ids[1]);
    expect(await mailed(site)).toEqual([`${GRACE}: unwanted`]);
  });

  test("are turned off and on by each user", async () => {
    await using site = await createAccountMailSite();
    const { app, session, owner } = site;
    await makeKey(site, "key A", 5);
    const turnOff = await app.call(`${ACCOUNT}/mail`, { session, form: {} });
    expect(turnOff.status).toBe(303);
    expect(app.audit().at(-1)).toMatchObject({
      action: "user.key_warnings",
      summary: "Turned mails about expiring keys off for “ada”",
    });
    await app.clock.advance(HOUR_MS);
    expect(site.mails()).toEqual([]);
    expect((await app.call(ACCOUNT, { session })).text).not.toMatch(
      /name="key_warnings"[^>]*checked/,
    );
    await app.call(`${ACCOUNT}/mail`, { session, form: { key_warnings: "yes" } });
    expect((await app.call(ACCOUNT, { session })).text).toMatch(/name="key_warnings"[^>]*checked/);
    await app.clock.advance(HOUR_MS);
    expect(await mailed(site)).toEqual([`${OWNER}: key A`]);
    await app.ctx.db.write((tx) => setKeyWarnings(app.ctx, tx, owner.id, false, CLI_ACTOR));
    expect(await mailed(site)).toEqual([`${OWNER}: unwanted`]);
  });

  test("a new owner is not told again of what the creator was told", async () => {
    await using site = await createAccountMailSite();
    const { app, grace } = site;
    await makeKey(site, "key A", 14, grace);
    await app.clock.advance(2 * MINUTE_MS);
    await app.ctx.db.write((tx) => disableUser(app.ctx, tx, grace.id, CLI_ACTOR));
    await passUntil(site, 5);
    expect(site.mails()).toHaveLength(1);
    await passUntil(site, 11.01);
    expect(site.mails().map(({ recipient }) => recipient)).toEqual([GRACE, OWNER]);
  });

  test("link to the list of keys only for those who may open it", async () => {
    await using site = await createAccountMailSite();
    const { app, grace } = site;
    await makeKey(site, "key A", 14, grace);
    await app.clock.advance(2 * MINUTE_MS);
    const account = "https://status.test/admin/settings/account";
    expect(linksIn(await written(site.compose()))).toEqual([account]);
    await app.ctx.db.write((tx) => setRole(app.ctx, tx, grace.id, "admin", CLI_ACTOR));
    expect(linksIn(await written(site.compose()))).toEqual([
      "https://status.test/admin/settings/keys?show=expiring",
      account,
    ]);
  });
});
