import { expect, test } from "bun:test";
import type { SMTPServerOptions } from "smtp-server";
import { addressHmac, ensureMailKey } from "../../../src/features/mail/tokens";
import { suppress } from "../../../src/features/mail/suppressions";
import { findMailTrouble } from "../../../src/features/users/mails";
import { inviteUser, issuePasswordLink } from "../../../src/features/users/invitations";
import { USER_TEMPLATES } from "../../../src/features/users/letters";
import { unavailable } from "../../../src/base/errors";
import { CLI_ACTOR } from "../../../src/base/actor";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { expectDead, userWithPassword } from "../../support/dashboard";
import { createMailSite } from "../../support/mail-site";
import { startRelay } from "../../support/relay";
import { startMailboxes } from "../../support/scripted-mailboxes";

const NEW = "new@example.com";
const CHOSEN = { name: "New", password: "another horse battery" };

/** Returns the path of the link in a message, whose lines are encoded. */
function joinPathIn(message: string): string {
  const text = message.replaceAll("=\r\n", "");
  return /\/admin\/join\/[0-9A-Za-z]{43}/.exec(text)?.[0] ?? "";
}

test("a try that the relay refused for now is repeated with another link, and the first works too", async () => {
  const messages: string[] = [];
  const onData: SMTPServerOptions["onData"] = (stream, _session, done) => {
    let text = "";
    stream.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    stream.on("end", () => {
      messages.push(text);
      const later = Object.assign(new Error("4.7.1 Try again later"), { responseCode: 451 });
      // A relay may deliver a message although the sender did not get its reply.
      if (messages.length === 1) done(later);
      else done(null, "2.0.0 Ok");
    });
  };
  await using relay = await startRelay({ onData });
  await using site = await createMailSite(relay, {}, { templates: USER_TEMPLATES });
  const { app } = site;
  const { ctx } = app;
  await userWithPassword(app, "ada@example.com");
  const invited = { email: NEW, name: "New", role: "viewer" } as const;
  const { token } = await ctx.db.write((tx) => inviteUser(ctx, tx, invited, CLI_ACTOR));
  await site.idle();
  expect(site.mails()).toMatchObject([{ status: "pending", tries: 1, template: "invitation" }]);
  await site.pass(5 * MINUTE_MS, 10 * SECOND_MS);
  expect(site.mails()).toMatchObject([{ status: "sent", tries: 2 }]);
  const ids = messages.map((message) => /^Message-ID: (.*)$/m.exec(message)?.[1]);
  expect(ids).toEqual([ids[0], ids[0]]);
  const paths = [`/admin/join/${token}`, ...messages.map(joinPathIn)];
  expect(new Set(paths).size).toBe(3);
  const call = { host: "status.example.com" };
  for (const path of paths) expect((await app.call(path, call)).status).toBe(200);
  const answer = await app.call(paths[1] ?? "", { ...call, form: CHOSEN });
  expect(answer.status).toBe(303);
  for (const path of paths) await expectDead(app, path, CHOSEN);
});

test("nothing is sent without a stored link, while the database takes no writes", async () => {
  await using relay = await startRelay();
  await using site = await createMailSite(relay, {}, { templates: USER_TEMPLATES });
  const { app } = site;
  const { ctx } = app;
  await userWithPassword(app, "ada@example.com");
  const { write } = ctx.db;
  const invited = { email: NEW, name: "New", role: "viewer" } as const;
  await ctx.db.write((tx) => inviteUser(ctx, tx, invited, CLI_ACTOR));
  ctx.db.write = () => Promise.reject(unavailable("The disk is full.", 5));
  await app.clock.advance(MINUTE_MS);
  expect(relay.mails).toEqual([]);
  ctx.db.write = write;
  await app.clock.advance(SECOND_MS);
  await site.pass(20 * MINUTE_MS, MINUTE_MS);
  expect(relay.mails.map(({ to }) => to)).toEqual([[NEW]]);
  expect((await app.call(joinPathIn(relay.mails[0]?.text ?? ""))).status).toBe(200);
});

test("an invitation goes to a suppressed address too, and its bounce is shown beside the user", async () => {
  await using relay = await startMailboxes();
  await using site = await createMailSite(relay, {}, { templates: USER_TEMPLATES });
  const { ctx } = site.app;
  await userWithPassword(site.app, "ada@example.com");
  await ctx.db.write((tx) => {
    const mark = addressHmac(ensureMailKey(ctx, tx), NEW);
    for (const reason of ["bounced", "soft", "complained", "declined", "blocked"] as const) {
      suppress(ctx, tx, { addressHmac: mark, reason });
    }
  });
  const invited = { email: NEW, name: "New", role: "viewer" } as const;
  const { user } = await ctx.db.write((tx) => inviteUser(ctx, tx, invited, CLI_ACTOR));
  await site.pass(MINUTE_MS);
  expect(relay.accepted).toEqual([NEW]);
  expect(findMailTrouble(ctx.db, user.id)).toBeUndefined();

  relay.answers[NEW] = "550 5.1.1 No such user";
  await ctx.db.write((tx) => issuePasswordLink(ctx, tx, user.id, CLI_ACTOR));
  await site.pass(MINUTE_MS);
  expect(findMailTrouble(ctx.db, user.id)).toEqual({
    template: "invitation",
    isWaiting: false,
    reply: expect.stringContaining("550 5.1.1 No such user"),
    at: expect.any(Number),
  });
  delete relay.answers[NEW];
  await ctx.db.write((tx) => issuePasswordLink(ctx, tx, user.id, CLI_ACTOR));
  await site.pass(MINUTE_MS);
  expect(relay.accepted).toEqual([NEW, NEW]);
  expect(findMailTrouble(ctx.db, user.id)).toBeUndefined();
});
