import { describe, expect, test } from "bun:test";
import { mails as mailsTable } from "../../../../src/db/tables/mail";
import { mutate } from "../../../../src/db/statements";
import { eq } from "drizzle-orm";
import { changePassword } from "../../../../src/features/users/sign-in";
import { disableUser, findUserByEmail, setRole } from "../../../../src/features/users/users";
import { CLI_ACTOR } from "../../../../src/base/actor";
import type { MailStatus } from "../../../../src/base/mail-address";
import { DAY_MS } from "../../../../src/base/time";
import {
  type AccountMailSite,
  createAccountMailSite,
  GRACE,
  joinPath,
  linksIn,
  OWNER,
  written,
} from "../../../support/account-mail";
import {
  ACCOUNT,
  expectDead,
  invite,
  makeLink,
  openForm,
  PASSWORD,
  signIn,
  trySignIn,
  USERS,
} from "../../../support/dashboard";
import { readHtml } from "../../../support/html";

const NEW = "new@example.com";
const CHOSEN = { name: "New", password: "another horse battery" };
const WITHOUT_MAIL = "E-mail is not set up, so send the invitation link yourself.";

const setResult = mutate(
  (orm, $: { id: string; status: MailStatus; tries: number; reply: string; at: number | null }) =>
    orm
      .update(mailsTable)
      .set({ status: $.status, tries: $.tries, reply: $.reply, finishedAt: $.at })
      .where(eq(mailsTable.id, $.id)),
);

/** Gives the newest mail a result. */
async function endLast(site: AccountMailSite, status: MailStatus, reply: string): Promise<void> {
  const { db, clock } = site.app.ctx;
  const id = site.mails().at(-1)?.id ?? "";
  const at = status === "pending" ? null : clock.now();
  await db.write((tx) => setResult(tx, { id, status, tries: 1, reply, at }));
}

const pageText = async ({ app, session }: AccountMailSite, path: string) =>
  readHtml((await app.call(path, { session })).text)
    .texts("main")
    .join(" ");

describe("an invitation by mail", () => {
  test("has a link of its own beside the one that is shown, and using one ends the other", async () => {
    await using site = await createAccountMailSite();
    const { app, session } = site;
    expect(await pageText(site, `${USERS}/new`)).toContain("sent to this address");
    const { path: shown } = await invite(app, session, NEW);
    const mail = await written(site.compose());
    expect([mail.to, mail.subject]).toEqual([NEW, "Your invitation to Allclear"]);
    expect(mail.text).toContain("ada invites you");
    const mailed = joinPath(mail);
    expect(mailed).not.toBe(shown);
    expect((await app.call(shown)).status).toBe(200);
    expect((await app.call(mailed, { form: CHOSEN })).status).toBe(303);
    await expectDead(app, shown, CHOSEN);
    expect((await trySignIn(app, NEW, CHOSEN.password)).status).toBe(303);
    // No password was changed by the first one.
    expect(site.mails("password_changed")).toEqual([]);
  });

  test("the link in it lasts seven days from when it was written", async () => {
    await using site = await createAccountMailSite();
    await invite(site.app, site.session, NEW);
    await site.app.clock.advance(DAY_MS);
    const path = joinPath(await written(site.compose()));
    await site.app.clock.advance(7 * DAY_MS - 1);
    expect((await site.app.call(path)).status).toBe(200);
    await site.app.clock.advance(1);
    await expectDead(site.app, path, CHOSEN);
  });

  test("a newer invitation ends the links of the earlier one, sent or not", async () => {
    await using site = await createAccountMailSite();
    const { app, session } = site;
    const { id } = await invite(app, session, NEW);
    const earlier = joinPath(await written(site.compose()));
    const before = site.mails("invitation");
    expect(await pageText(site, `${USERS}/${id}`)).toContain("Send invitation again");
    await makeLink(app, session, id);
    await expectDead(app, earlier, CHOSEN);
    expect(await site.compose(before[0])).toBe("unwanted");
    expect((await app.call(joinPath(await written(site.compose())))).status).toBe(200);
  });

  test("is not sent after it was accepted, or the user was disabled", async () => {
    await using site = await createAccountMailSite();
    const { app, session } = site;
    const { path } = await invite(app, session, NEW);
    const { id } = await invite(app, session, "other@example.com");
    await app.call(path, { form: CHOSEN });
    await app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    for (const mail of site.mails("invitation")) expect(await site.compose(mail)).toBe("unwanted");
  });

  test("while mail is not ready, the link is only shown", async () => {
    await using site = await createAccountMailSite();
    await site.setUpMail(false);
    const { app, session } = site;
    expect(await pageText(site, `${USERS}/new`)).toContain(WITHOUT_MAIL);
    const { path } = await invite(app, session, NEW);
    expect((await app.call(path)).status).toBe(200);
    await site.setUpMail(true);
    expect(site.mails()).toEqual([]);
  });

  test("an e-mail without a dot in its domain gets none, and the screen does not say that it does", async () => {
    await using site = await createAccountMailSite();
    const { app, session } = site;
    const form = { form: await openForm(app, `${USERS}/new`, session), name: "L", role: "viewer" };
    const answer = await app.call(`${USERS}/new`, { session, form: { ...form, email: "l@host" } });
    expect(answer.text).toContain("over a private channel");
    expect(answer.text).not.toContain("has a link of its own");
    expect(site.mails()).toEqual([]);
  });

  test("a reset link that an owner creates is not mailed", async () => {
    await using site = await createAccountMailSite();
    await makeLink(site.app, site.session, site.grace.id);
    expect(site.mails()).toEqual([]);
  });
});

describe("the mail about a changed password", () => {
  test("goes to the user after every change, and names its means", async () => {
    await using site = await createAccountMailSite();
    const { app, grace } = site;
    const session = await signIn(app, GRACE);
    const form = { current_password: PASSWORD, new_password: CHOSEN.password };
    expect((await app.call(`${ACCOUNT}/password`, { session, form })).status).toBe(303);
    expect((await written(site.compose())).text).toContain("in the settings of the account");
    await site.app.call(await makeLink(app, site.session, grace.id), { form: CHOSEN });
    expect((await written(site.compose())).text).toContain("by a link for choosing a password");
    const change = { userId: grace.id, passwordHash: "$argon2id$other" };
    await app.ctx.db.write((tx) => changePassword(app.ctx, tx, change, CLI_ACTOR));
    const mail = await written(site.compose());
    expect(mail.text).toContain("on the server’s command line");
    expect(mail.text).toContain("10 Mar 2026, 12:00 UTC");
    expect(site.mails().map(({ recipient, template }) => [recipient, template])).toEqual(
      Array.from({ length: 3 }, () => [GRACE, "password_changed"]),
    );
    expect(linksIn(mail)).toEqual(["https://status.test/admin/forgot"]);
    await app.call(`${USERS}/reset-mails`, { session: site.session, form: { turn: "off" } });
    expect(linksIn(await written(site.compose()))).toEqual([]);
  });

  test("a change that is rejected sends none", async () => {
    await using site = await createAccountMailSite();
    const session = await signIn(site.app, GRACE);
    const form = { current_password: "wrong", new_password: CHOSEN.password };
    expect((await site.app.call(`${ACCOUNT}/password`, { session, form })).status).toBe(422);
    expect(site.mails()).toEqual([]);
  });
});

describe("trouble with a mail to a user", () => {
  test("is shown beside the user with the relay's reply, until a later mail is taken", async () => {
    await using site = await createAccountMailSite();
    const { app, session } = site;
    const { id } = await invite(app, session, NEW);
    const path = `${USERS}/${id}`;
    expect(await pageText(site, path)).not.toContain("could not be sent");
    await endLast(site, "bounced", "550 5.1.1 <new@example.com>: User unknown");
    expect(await pageText(site, path)).toMatch(
      /The invitation could not be sent.*550 5\.1\.1 <new@example\.com>: User unknown/,
    );
    expect(await pageText(site, USERS)).toContain("Mail not sent");
    await makeLink(app, session, id);
    // The new mail has no result yet.
    expect(await pageText(site, path)).toContain("could not be sent");
    await endLast(site, "pending", "451 4.7.1 Try again later");
    expect(await pageText(site, path)).toMatch(/waits, and is tried again.*451 4\.7\.1/);
    await endLast(site, "sent", "250 Ok");
    expect(await pageText(site, path)).not.toContain("The invitation");
    expect(await pageText(site, USERS)).not.toContain("Mail not sent");
  });

  test("is not shown for a mail that was no longer wanted", async () => {
    await using site = await createAccountMailSite();
    const { id } = await invite(site.app, site.session, NEW);
    await endLast(site, "cancelled", "");
    expect(await pageText(site, `${USERS}/${id}`)).not.toContain("could not be sent");
  });
});

test("mails to users name no password, token or hash in their stored values", async () => {
  await using site = await createAccountMailSite();
  const { app, session } = site;
  const { path } = await invite(app, session, NEW);
  await app.call(path, { form: CHOSEN });
  await site.forgot(OWNER);
  await site.decide();
  const mailed = joinPath(await written(site.compose()));
  const token = mailed.slice(mailed.lastIndexOf("/") + 1);
  const stored = JSON.stringify([site.mails(), app.audit(), app.events(), app.logged]);
  expect(stored).not.toContain(token);
  expect(stored).not.toContain(path.slice(path.lastIndexOf("/") + 1));
  expect(stored).not.toContain(CHOSEN.password);
  expect(findUserByEmail(app.ctx.db, NEW)?.has_password).toBe(true);
});

describe("where only owners have passwords", () => {
  const OWNERS = { ALLCLEAR_LOCAL_SIGN_IN: "owners" };

  test("a forgotten password is answered alike, and mailed to owners alone", async () => {
    await using site = await createAccountMailSite({ env: OWNERS });
    const answers = [await site.forgot(GRACE), await site.forgot(OWNER)];
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    await site.decide();
    expect(site.mails("password_reset").map(({ recipient }) => recipient)).toEqual([OWNER]);
  });

  test("a reset mail that waits is not sent to a user who is no owner any more", async () => {
    await using site = await createAccountMailSite({ env: OWNERS });
    const { ctx } = site.app;
    await ctx.db.write((tx) => {
      setRole(ctx, tx, site.grace.id, "owner", CLI_ACTOR);
    });
    await site.forgot(GRACE);
    await site.decide();
    const [mail] = site.mails("password_reset");
    await ctx.db.write((tx) => {
      setRole(ctx, tx, site.grace.id, "editor", CLI_ACTOR);
    });
    expect(await site.compose(mail)).toBe("unwanted");
  });
});
