import { describe, expect, test } from "bun:test";
import { selectMany } from "../../../../src/db/statements";
import { passwordRequests } from "../../../../src/db/tables/users";
import { unavailable } from "../../../../src/base/errors";
import { disableUser } from "../../../../src/features/users/users";
import { inviteUser } from "../../../../src/features/users/invitations";
import { requestPassword } from "../../../../src/features/users/mails";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import {
  createAccountMailSite,
  GRACE,
  joinPath,
  OWNER,
  written,
} from "../../../support/account-mail";
import { createTestApp } from "../../../support/app";
import {
  actionsOf,
  expectDead,
  isSignedIn,
  makeLink,
  PASSWORD,
  sessionIn,
  signIn,
  trySignIn,
  USERS,
} from "../../../support/dashboard";
import { counted } from "../../../support/counted-transaction";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const FORGOT = "/admin/forgot";
const NEW_PASSWORD = "another horse battery";
const CHOSEN = { name: "", password: NEW_PASSWORD };

const listRequests = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(passwordRequests),
);

/** Headers and text of an answer, without what differs for every answer. */
function comparable({ status, headers, text }: { status: number; headers: Headers; text: string }) {
  const names = ["date", "x-request-id", "ratelimit", "ratelimit-policy"];
  return { status, text, headers: [...headers].filter(([name]) => !names.includes(name)) };
}

describe("the form for a forgotten password", () => {
  test("mails a link that opens by GET, changes the password by POST and ends all sessions", async () => {
    await using site = await createAccountMailSite();
    const { app } = site;
    const before = await signIn(app, GRACE);
    const answer = await site.forgot(GRACE);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `${FORGOT}/sent`]);
    await site.decide();
    const mail = await written(site.compose());
    expect(mail.to).toBe(GRACE);
    const path = joinPath(mail);
    for (const method of ["GET", "HEAD", "GET"]) {
      expect((await app.call(path, { method })).status).toBe(200);
    }
    expect(await isSignedIn(app, before)).toBe(true);
    const chosen = await app.call(path, { form: CHOSEN });
    expect(chosen.status).toBe(303);
    expect(await isSignedIn(app, before)).toBe(false);
    expect(await isSignedIn(app, sessionIn(chosen))).toBe(true);
    expect((await trySignIn(app, GRACE, NEW_PASSWORD)).status).toBe(303);
    expect((await trySignIn(app, GRACE, PASSWORD)).status).toBe(422);
    await expectDead(app, path, CHOSEN);
    expect(actionsOf(app)).toContain("user.accept");
  });

  test("the link lasts an hour from when its mail was written", async () => {
    await using site = await createAccountMailSite();
    const { app } = site;
    await site.forgot(GRACE);
    await site.decide();
    await app.clock.advance(10 * MINUTE_MS);
    const path = joinPath(await written(site.compose()));
    await app.clock.advance(HOUR_MS - 1);
    expect((await app.call(path)).status).toBe(200);
    await app.clock.advance(1);
    await expectDead(app, path, CHOSEN);
  });

  test("each try of a mail has another link, and all work until one is used", async () => {
    await using site = await createAccountMailSite();
    await site.forgot(GRACE);
    await site.decide();
    const paths = [await written(site.compose()), await written(site.compose())].map(joinPath);
    expect(new Set(paths).size).toBe(2);
    for (const path of paths) expect((await site.app.call(path)).status).toBe(200);
    expect((await site.app.call(paths[1] ?? "", { form: CHOSEN })).status).toBe(303);
    for (const path of paths) await expectDead(site.app, path, CHOSEN);
    // A later try of the same mail would carry a link for the new password.
    const [reset] = site.mails("password_reset");
    expect(await site.compose(reset)).toBe("unwanted");
  });

  test("a mailed link leaves the link that an owner created", async () => {
    await using site = await createAccountMailSite();
    const { app, session, grace } = site;
    const path = await makeLink(app, session, grace.id);
    await site.forgot(GRACE);
    await site.decide();
    await written(site.compose());
    expect((await app.call(path)).status).toBe(200);
  });

  test("answers alike for every address, and stores none of them", async () => {
    await using site = await createAccountMailSite();
    const { app, grace } = site;
    const invited = "new@example.com";
    await app.ctx.db.write((tx) => {
      const fields = { email: invited, name: "New", role: "viewer" } as const;
      inviteUser(app.ctx, tx, fields, CLI_ACTOR);
      disableUser(app.ctx, tx, grace.id, CLI_ACTOR);
    });
    const known = comparable(await site.forgot(OWNER));
    for (const email of ["nobody@example.com", GRACE, invited, ` ${OWNER.toUpperCase()} `]) {
      expect(comparable(await site.forgot(email)), email).toEqual(known);
    }
    await site.decide();
    expect(site.mails("password_reset").map(({ recipient }) => recipient)).toEqual([OWNER, OWNER]);
    const { text } = await app.call(`${FORGOT}/sent`);
    expect(readHtml(text).texts("main").join("")).toContain("If a user signs in with this address");
    const dump = JSON.stringify([app.logged, app.audit(), app.events()]);
    expect(dump).not.toContain("nobody@example.com");
    const stored = listRequests(app.ctx.db, {}).map(({ address }) => address);
    expect(stored).toEqual(Array.from({ length: 5 }, () => null));
  });

  test("runs the same statements whether the address is known or not", async () => {
    await using site = await createAccountMailSite();
    const { ctx } = site.app;
    const client = { ip: "198.51.100.1", network: "198.51.100.1" };
    const ask = async (email: string) =>
      ctx.db.write((tx) => {
        const { tx: countedTx, ...counts } = counted(tx);
        expect(requestPassword(ctx, countedTx, { email, client })).toBe(0);
        return [counts.statements(), counts.writes(), counts.rows()];
      });
    expect(await ask("nobody@example.com")).toEqual(await ask(GRACE));
  });

  test("sends at most three mails an hour to a user", async () => {
    await using site = await createAccountMailSite();
    for (let index = 0; index < 5; index += 1) {
      expect((await site.forgot(GRACE)).status).toBe(303);
      await site.decide();
    }
    expect(site.mails("password_reset")).toHaveLength(3);
    await site.forgot(OWNER);
    await site.decide();
    expect(site.mails("password_reset")).toHaveLength(4);
    await site.app.clock.advance(HOUR_MS);
    await site.forgot(GRACE);
    await site.decide();
    expect(site.mails("password_reset")).toHaveLength(5);
  });

  test("takes ten requests an hour from a client, then tells how long to wait", async () => {
    await using site = await createAccountMailSite();
    const from = "203.0.113.99";
    const send = () => site.forgot("nobody@example.com", { from });
    for (let index = 0; index < 10; index += 1) expect((await send()).status).toBe(303);
    await site.app.clock.advance(HOUR_MS / 2);
    const refused = await send();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1800"]);
    expect(refused.text).toContain("Try again in 30 minutes");
    expect((await site.forgot(GRACE)).status).toBe(303);
    await site.app.clock.advance(HOUR_MS / 2);
    expect((await send()).status).toBe(303);
  });

  test("takes 50 requests an hour from an IPv6 /48, whatever the /64, and others still get through", async () => {
    await using site = await createAccountMailSite();
    const send = (from: string) => site.forgot("nobody@example.com", { from });
    for (let index = 0; index < 50; index += 1) {
      expect((await send(`2001:db8:1:${index.toString(16)}::1`)).status).toBe(303);
    }
    expect((await send("2001:db8:1:ffff::1")).status).toBe(429);
    for (const from of ["2001:db8:2:1::1", "2001:db8:11:1::1", "2001:db8:0:1::1"]) {
      expect((await send(from)).status).toBe(303);
    }
    await site.app.clock.advance(HOUR_MS);
    expect((await send("2001:db8:1:ffff::1")).status).toBe(303);
  });

  test("comes back with what was typed while the database takes no writes", async () => {
    await using site = await createAccountMailSite();
    const { db } = site.app.ctx;
    const { write } = db;
    db.write = () => Promise.reject(unavailable("The disk is full.", 5));
    const refused = await site.forgot(GRACE);
    db.write = write;
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(refused.text).toContain("could not be stored");
    expect(typedIn(refused.text, "email")).toEqual([GRACE]);
    await site.decide();
    expect(site.mails()).toEqual([]);
  });

  test("refuses text that is no e-mail, and forms of other origins", async () => {
    await using site = await createAccountMailSite();
    const wrong = await site.forgot("ada");
    expect(wrong.status).toBe(422);
    expect(fieldErrorsOn(wrong.text)).toHaveProperty("email");
    const foreign = await site.forgot(GRACE, { headers: { origin: "https://evil.example" } });
    expect(foreign.status).toBe(403);
    await site.decide();
    expect(site.mails()).toEqual([]);
  });

  test("is there only while mail is ready and no owner has turned it off", async () => {
    await using site = await createAccountMailSite();
    const { app, session } = site;
    const signInLinks = async () =>
      readHtml((await app.call("/admin/sign-in")).text).attributes("a", "href");
    const turn = (to: string) => app.call(`${USERS}/reset-mails`, { session, form: { turn: to } });
    expect(await signInLinks()).toContain(FORGOT);
    await turn("off");
    expect(app.audit().at(-1)).toMatchObject({
      action: "settings.reset_mails",
      summary: "Turned password resets by mail off",
    });
    expect(await signInLinks()).not.toContain(FORGOT);
    expect((await app.call(FORGOT)).status).toBe(404);
    expect((await site.forgot(GRACE)).status).toBe(404);
    await turn("on");
    expect((await app.call(FORGOT)).status).toBe(200);
    await site.setUpMail(false);
    expect((await app.call(FORGOT)).status).toBe(404);
    expect((await site.forgot(GRACE)).status).toBe(404);
    expect(await signInLinks()).not.toContain(FORGOT);
    await site.decide();
    expect(site.mails()).toEqual([]);
  });

  test("a mail that waits is not sent after it was turned off, or the user was disabled", async () => {
    await using site = await createAccountMailSite();
    const { app, session, grace } = site;
    await site.forgot(GRACE);
    await site.decide();
    const form = { turn: "off" };
    await app.call(`${USERS}/reset-mails`, { session, form });
    expect(await site.compose()).toBe("unwanted");
    await app.call(`${USERS}/reset-mails`, { session, form: { turn: "on" } });
    await app.ctx.db.write((tx) => disableUser(app.ctx, tx, grace.id, CLI_ACTOR));
    expect(await site.compose()).toBe("unwanted");
  });

  test("a request that was left for more than an hour gets no mail", async () => {
    await using site = await createAccountMailSite();
    await site.forgot(GRACE);
    site.app.clock.setWallClock(site.app.clock.now() + DAY_MS);
    await site.decide();
    expect(site.mails()).toEqual([]);
  });

  test("turning it off is for owners alone", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const answer = await app.call(`${USERS}/reset-mails`, { session, form: { turn: "off" } });
    expect(answer.status).toBe(403);
  });
});
