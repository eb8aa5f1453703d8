import { describe, expect, test } from "bun:test";
import type { MailRow } from "../../../src/features/mail/store";
import { toMessage } from "../../../src/features/mail/compose";
import { renderLetter } from "../../../src/features/mail/letter";
import {
  signInPerson,
  connectPerson,
  disconnectIdentity,
} from "../../../src/features/users/identities";
import { inviteUser, issuePasswordLink } from "../../../src/features/users/invitations";
import {
  expiringKeysLetter,
  secondFactorLetter,
  USER_TEMPLATES,
} from "../../../src/features/users/letters";
import { mailUser } from "../../../src/features/users/mails";
import { recoverUser } from "../../../src/features/users/recovery";
import {
  findUser,
  insertIdentity,
  listIdentitiesOf,
  updateUserRow,
} from "../../../src/features/users/store";
import { userActor } from "../../../src/base/actor";
import { DAY_MS, MINUTE_MS, toIso } from "../../../src/base/time";
import {
  type AccountMailSite,
  createAccountMailSite,
  GRACE,
  joinPath,
  OWNER,
  written,
} from "../../support/account-mail";
import { makeLink, PASSWORD } from "../../support/dashboard";
import { type ParsedMail, parseMails } from "../../support/parsed-mail";
import { createKey } from "../../support/examined";
import { FROM } from "../../support/user-installation";

const NAMES = ["Ada Lovelace", "Аделина", "آدا لوفليس", "🔥 Ada", "=?UTF-8?Q?x?= <b>&Ada", "."];

/** Words of a text in lower case. */
function wordsOf(text: string): string[] {
  return text.replaceAll(/[\u2066-\u2069\u202e]/g, "").match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Queues a mail of each kind, in which a person or a key has this name. */
async function queueAll(site: AccountMailSite, name: string): Promise<void> {
  const { app, grace, session } = site;
  const { ctx } = app;
  const actor = userActor({ ...site.owner, name });
  await ctx.db.write((tx) => {
    inviteUser(ctx, tx, { email: "new@example.com", name: "New", role: "viewer" }, actor);
    const expires = toIso(ctx.clock.now() + 10 * DAY_MS);
    const clock = { ...ctx.clock, now: () => ctx.clock.now() - 60 * DAY_MS };
    const input = { name, scopes: ["read:status" as const], expires };
    createKey({ ...ctx, clock }, tx, input, userActor(grace));
    const at = ctx.clock.now();
    const params = { change: "codes_refused" as const, at, until: at + MINUTE_MS };
    mailUser(ctx, tx, grace, { template: "second_factor", params });
  });
  await site.forgot(OWNER);
  await app.call(await makeLink(app, session, grace.id), {
    form: { name: "", password: `${PASSWORD} 2` },
  });
  await app.clock.advance(2 * MINUTE_MS);
  await ctx.db.write((tx) => {
    connectPerson(ctx, tx, grace.id, { ...PERSON, name }, actor);
    recoverUser(ctx, tx, grace.id, { makesOwner: false }, actor);
  });
}

const PERSON = {
  system: "Northwind",
  issuer: "https://login.northwind.example",
  subject: "grace",
  email: undefined,
  isEmailVerified: false,
  canLinkByEmail: false,
  groups: [],
  timeZone: undefined,
};

async function parsedMails(site: AccountMailSite): Promise<(ParsedMail & { mail: MailRow })[]> {
  const mails = site.mails();
  const composed: Uint8Array[] = [];
  for (const mail of mails) composed.push(toMessage(await written(site.compose(mail))));
  const parsed = await parseMails(composed);
  return parsed.flatMap((one, index) => {
    const mail = mails[index];
    return mail ? [{ ...one, mail }] : [];
  });
}

describe("the mails to users", () => {
  test.each(NAMES)(
    "with the name %s are read by another parser as they were written",
    async (name) => {
      await using site = await createAccountMailSite();
      await queueAll(site, name);
      const parsed = await parsedMails(site);
      expect(parsed.map(({ mail }) => mail.template).toSorted()).toEqual(
        Object.keys(USER_TEMPLATES).toSorted(),
      );
      for (const { mail, defects, headers, from, parts, longestLine } of parsed) {
        expect(defects).toEqual([]);
        expect(longestLine).toBeLessThanOrEqual(78);
        expect(from).toEqual({ name: "Allclear", address: "status@example.com" });
        expect(Object.keys(headers).toSorted()).toEqual([
          "Auto-Submitted",
          "Content-Type",
          "Date",
          "From",
          "MIME-Version",
          "Message-ID",
          "Subject",
          "To",
          "X-Auto-Response-Suppress",
        ]);
        for (const values of Object.values(headers)) expect(values).toHaveLength(1);
        expect(headers).toMatchObject({
          To: [mail.recipient],
          "Message-ID": [`<${mail.id}@example.com>`],
          "Auto-Submitted": ["auto-generated"],
        });
        const [text, html] = parts.map((part) => part.text);
        const visible = String(html)
          .slice(String(html).indexOf("<body"))
          .replaceAll(/<[^>]*>|&(?:nbsp|zwnj);/g, " ")
          .replaceAll("&amp;", "&")
          .replaceAll("&lt;", "<")
          .replaceAll("&gt;", ">");
        const words = new Set(wordsOf(String(text)));
        // The preheader is for lists of mails alone.
        const preheader = new Set(
          wordsOf(String(/<div style="display:none[^>]*>([^<]*)</.exec(String(html))?.[1])),
        );
        const missing = wordsOf(visible).filter((word) => !words.has(word) && !preheader.has(word));
        expect(missing).toEqual([]);
        expect(html).not.toMatch(/<img|<script|<form|url\(|<link/);
      }
      const subjects = parsed.map(({ mail, headers }) => [mail.recipient, headers["Subject"]?.[0]]);
      expect(subjects).toContainEqual(["new@example.com", "Your invitation to Allclear"]);
      expect(subjects).toContainEqual([OWNER, "Choose a new password for Allclear"]);
      expect(subjects).toContainEqual([GRACE, "Your Allclear password was changed"]);
      expect(subjects).toContainEqual([GRACE, "Your Allclear account was connected"]);
      expect(subjects).toContainEqual([GRACE, "Your Allclear account was recovered"]);
    },
  );

  test.each([
    [{ change: "on" }, "turned on", "needs a code from now on"],
    [{ change: "off" }, "turned off", "with your password alone"],
    [{ change: "reset", by: "owner" }, "was reset", "removed by an owner"],
    [{ change: "reset", by: "command" }, "was reset", "on the server’s command line"],
    [{ change: "recovery_codes_created" }, "New recovery codes", "Earlier ones work no longer"],
    [{ change: "recovery_code_used", left: 1 }, "was used", "You have 1 other left"],
    [{ change: "codes_refused", until: DAY_MS }, "Wrong codes", "until 2 Jan 1970"],
  ] as const)("say of a second factor: %p", (change, subject, sentence) => {
    const about = {
      email: OWNER,
      publicAddress: "https://status.test",
      at: 0,
      timeZone: "Asia/Tokyo",
    };
    const urls = {
      accountUrl: "https://status.test/account",
      resetUrl: "https://status.test/forgot",
    };
    const written = (resetUrl: string | null) => {
      const { subject: line, letter } = secondFactorLetter({
        ...change,
        ...about,
        ...urls,
        resetUrl,
      });
      return { line, text: renderLetter(letter).text };
    };
    const { line, text } = written(urls.resetUrl);
    expect(line).toContain(subject);
    expect(text.replaceAll(/\s+/g, " ")).toContain(sentence);
    for (const part of [OWNER, "1 Jan 1970, 9:00 UTC+9", urls.accountUrl, urls.resetUrl]) {
      expect(text).toContain(part);
    }
    const alone = written(null).text;
    expect(alone).not.toContain(urls.resetUrl);
    expect(alone).toContain("tell an owner");
    // Others reset it.
    expect(text.includes("If it was you,")).toBe(change.change !== "reset");
    expect(text.includes("If you did not ask for this,")).toBe(change.change === "reset");
  });

  test("offer a new password only to users who may choose one", async () => {
    await using site = await createAccountMailSite();
    const { ctx } = site.app;
    const mails = ["password_changed", "second_factor", "connected"];
    const offersOf = async (user: { id: string; email: string }) => {
      await ctx.db.write((tx) => {
        const at = ctx.clock.now();
        mailUser(ctx, tx, user, { template: "password_changed", params: { by: "command", at } });
        const params = { change: "off" as const, at };
        mailUser(ctx, tx, user, { template: "second_factor", params });
        const connected = { system: "Northwind", label: user.email, at };
        mailUser(ctx, tx, user, { template: "connected", params: connected });
      });
      const offers: boolean[] = [];
      for (const template of mails) {
        const newest = site.mails(template).at(-1);
        expect(newest?.recipient).toBe(user.email);
        const { text } = await written(site.compose(newest));
        expect(text).toContain("tell an owner of Allclear");
        offers.push(/choose a new password/i.test(String(text).replaceAll(/\s+/g, " ")));
      }
      return offers;
    };
    expect(await offersOf(site.grace)).toEqual([true, true, true]);
    ctx.config = { ...ctx.config, localSignIn: "owners" };
    expect(await offersOf(site.grace)).toEqual([false, false, false]);
    expect(await offersOf(site.owner)).toEqual([true, true, true]);
  });

  test("cut a long name of a key in the subject alone", () => {
    const name = "🔑".repeat(200);
    const { subject, letter } = expiringKeysLetter({
      keys: [{ name, expiresAt: DAY_MS }],
      now: 0,
      timeZone: "UTC",
      isCreator: true,
      keysUrl: null,
      accountUrl: "https://status.test/admin/settings/account",
    });
    expect(Array.from(subject)).toHaveLength(150);
    expect(subject).toEndWith("🔑…");
    expect(JSON.stringify(letter)).toContain(name);
  });

  test("name at most twenty keys and count the others", () => {
    const keys = Array.from({ length: 23 }, (_, index) => ({
      name: `Key number ${index + 1}.`,
      expiresAt: DAY_MS,
    }));
    const { subject, letter } = expiringKeysLetter({
      keys,
      now: 0,
      timeZone: "UTC",
      isCreator: false,
      keysUrl: null,
      accountUrl: "https://a.test",
    });
    expect(subject).toBe("23 API keys expire soon");
    const text = JSON.stringify(letter);
    expect(text).toContain("Key number 20.");
    expect(text).not.toContain("Key number 21.");
    expect(text).toContain("And 3 more.");
  });

  test.each([
    ["Europe/Berlin", "9 Apr 2026, 14:00 CEST (UTC+2)", "10 Mar 2026, 13:00 CET (UTC+1)"],
    ["Asia/Kathmandu", "9 Apr 2026, 17:45 UTC+5:45", "10 Mar 2026, 17:45 UTC+5:45"],
    ["UTC", "9 Apr 2026, 12:00 UTC", "10 Mar 2026, 12:00 UTC"],
    ["Mars/Olympus_Mons", "9 Apr 2026, 12:00 UTC", "10 Mar 2026, 12:00 UTC"],
  ])("give times in the zone of their reader: %s", async (zone, expiry, change) => {
    await using site = await createAccountMailSite();
    const { app, grace, session } = site;
    const { ctx } = app;
    await ctx.db.write((tx) => {
      const user = findUser(tx, { id: grace.id });
      if (user) updateUserRow(tx, { ...user, timeZone: zone });
      const expires = toIso(ctx.clock.now() + 30 * DAY_MS);
      const input = { name: "Bot", scopes: ["read:status" as const], expires };
      createKey(ctx, tx, input, userActor(grace));
    });
    await app.call(await makeLink(app, session, grace.id), {
      form: { name: "", password: `${PASSWORD} 2` },
    });
    const changed = await written(site.compose());
    expect(changed.text).toContain(`was changed on ${change},`);
    await ctx.db.write((tx) => {
      connectPerson(ctx, tx, grace.id, { ...PERSON, name: "Grace" }, userActor(grace));
      recoverUser(ctx, tx, grace.id, { makesOwner: false }, userActor(grace));
    });
    const [connected] = site.mails("connected");
    expect((await written(site.compose(connected))).text).toContain(
      `was connected with Northwind on ${change}. Grace there is signed in as you`,
    );
    const [recovered] = site.mails("recovered");
    expect((await written(site.compose(recovered))).text).toContain(
      `was recovered on ${change} on`,
    );
    app.clock.setWallClock(app.clock.now() + 17 * DAY_MS);
    await app.clock.advance(10 * MINUTE_MS);
    const [warning] = site.mails("expiring_keys");
    expect(warning?.recipient).toBe(GRACE);
    expect((await written(site.compose(warning))).text).toContain(`, on ${expiry}.`);
  });

  test("do not invite a user who has joined with an identity since, until an owner makes a new link", async () => {
    await using site = await createAccountMailSite();
    const { app, owner } = site;
    const { ctx } = app;
    const actor = userActor(owner);
    const newcomer = { ...PERSON, name: "New" };
    const input = { email: "new@example.com", name: "New", role: "viewer" } as const;
    const { user, token } = await ctx.db.write((tx) => inviteUser(ctx, tx, input, actor));
    const [invitation] = site.mails("invitation");
    // Its first try stores a link, and fails.
    expect(joinPath(await written(site.compose(invitation)))).toStartWith("/admin/join/");
    await app.clock.advance(MINUTE_MS);
    const at = { invitation: token, origin: FROM };
    const admitted = await ctx.db.write((tx) => signInPerson(ctx, tx, newcomer, at));
    expect(admitted).toMatchObject({ user: { id: user.id, has_password: false } });
    expect(await site.compose(invitation)).toBe("unwanted");
    const disconnect = async () => {
      const [identity] = listIdentitiesOf(ctx.db, { userId: user.id });
      await ctx.db.write((tx) => disconnectIdentity(ctx, tx, user.id, identity?.id ?? 0, actor));
    };
    await disconnect();
    expect(await site.compose(invitation)).toBe("unwanted");

    await app.clock.advance(MINUTE_MS);
    await ctx.db.write((tx) => issuePasswordLink(ctx, tx, user.id, actor));
    expect(joinPath(await written(site.compose(site.mails("invitation").at(-1))))).toStartWith(
      "/admin/join/",
    );
    await ctx.db.write((tx) => connectPerson(ctx, tx, user.id, newcomer, actor));
    await app.clock.advance(MINUTE_MS);
    await ctx.db.write((tx) => issuePasswordLink(ctx, tx, user.id, actor));
    // A sign-in with an identity from before the link is no answer to it.
    await ctx.db.write((tx) => signInPerson(ctx, tx, newcomer, { origin: FROM }));
    const path = joinPath(await written(site.compose(site.mails("invitation").at(-1))));
    const form = { name: "New", password: PASSWORD };
    expect((await app.call(path, { form })).status).toBe(303);
    expect(site.mails().at(-1)).toMatchObject({
      template: "password_changed",
      recipient: "new@example.com",
      params: { by: "link" },
    });
  });

  test("are not sent about a change to a user who joins with the first password", async () => {
    await using site = await createAccountMailSite();
    const { app, owner } = site;
    const { ctx } = app;
    const input = { email: "new@example.com", name: "New", role: "viewer" } as const;
    await ctx.db.write((tx) => inviteUser(ctx, tx, input, userActor(owner)));
    const path = joinPath(await written(site.compose()));
    const form = { name: "New", password: PASSWORD };
    expect((await app.call(path, { form })).status).toBe(303);
    expect(site.mails().map(({ template }) => template)).toEqual(["invitation"]);
  });

  test("about a recovered account name the identities that sign in, where their issuer is in force", async () => {
    const env = {
      ALLCLEAR_OIDC_ISSUER: PERSON.issuer,
      ALLCLEAR_OIDC_CLIENT_ID: "allclear",
      ALLCLEAR_OIDC_CLIENT_SECRET: "secret",
      ALLCLEAR_OIDC_NAME: "Northwind",
      ALLCLEAR_IDENTITY_PROXY: "10.0.0.0/28",
      ALLCLEAR_IDENTITY_PROXY_SECRET: "a-secret-of-the-proxy",
    };
    await using site = await createAccountMailSite({ env });
    const { app, grace } = site;
    const { ctx } = app;
    const recover = async () => {
      await ctx.db.write((tx) =>
        recoverUser(ctx, tx, grace.id, { makesOwner: false }, userActor(grace)),
      );
      return written(site.compose(site.mails("recovered").at(-1)));
    };
    expect((await recover()).text).not.toContain("sign in as you");
    await ctx.db.write((tx) => {
      connectPerson(ctx, tx, grace.id, { ...PERSON, name: "Mallory" }, userActor(grace));
      const old = { userId: grace.id, issuer: "https://old.example", subject: "g" };
      insertIdentity(tx, { ...old, label: "Former", createdAt: 1, lastUsedAt: 1 });
      const named = { userId: grace.id, issuer: "proxy", subject: "eve" };
      insertIdentity(tx, { ...named, label: "Eve", createdAt: 1, lastUsedAt: 1 });
    });
    const { text } = await recover();
    expect(String(text).replaceAll(/\s+/g, " ")).toContain(
      "These still sign in as you. Disconnect those that are not yours. Mallory at Northwind. Eve at the identity proxy.",
    );
    expect(text).toContain("/admin/settings/account");
    expect(text).not.toContain("Former");
  });

  test("use the sender's name and the address for replies of the settings", async () => {
    await using site = await createAccountMailSite({
      env: {
        ALLCLEAR_SMTP_HOST: "relay.example",
        ALLCLEAR_MAIL_FROM: "Northwind <status@example.com>",
        ALLCLEAR_MAIL_REPLY_TO: "help@example.com",
      },
    });
    await site.forgot(OWNER);
    await site.decide();
    const mail = await written(site.compose());
    expect(mail.from).toEqual({ name: "Northwind", address: "status@example.com" });
    expect(mail.replyTo).toBe("help@example.com");
  });
});
