import { describe, expect, test } from "bun:test";
import { createEgress } from "../../../../src/egress/egress";
import { createTestApp, type TestApp } from "../../../support/app";
import { readHtml } from "../../../support/html";
import { certificateText } from "../../../support/raw-server";
import {
  politeRelay,
  startRelay,
  startScriptedRelay,
  type TestRelay,
} from "../../../support/relay";

const TEST = "/admin/mail/test";

const FROM = "Northwind ✓ <status@example.com>";

/** Creates an installation whose egress resolves every name to loopback and trusts the tests' authority. */
async function createMailApp(env: Record<string, string>): Promise<TestApp> {
  const root = await certificateText("root");
  const lookup = async () => ["127.0.0.1"];
  return createTestApp({ env, egress: (ctx) => createEgress({ ...ctx, trust: [root], lookup }) });
}

/** Creates an installation whose relay a variable names. */
function createAppFor(
  relay: Pick<TestRelay, "port">,
  env: Record<string, string> = {},
): Promise<TestApp> {
  return createMailApp({
    ALLCLEAR_SMTP_HOST: "localhost",
    ALLCLEAR_SMTP_PORT: String(relay.port),
    ALLCLEAR_MAIL_FROM: FROM,
    ...env,
  });
}

async function sendTest(app: TestApp, session: string) {
  const answer = await app.call(TEST, { session, form: {} });
  const page = readHtml(answer.text);
  const names = page.texts(".mail-steps .detail-name");
  const notes = page.texts(".mail-steps .detail-note");
  return {
    answer,
    state: page.texts("#mail-test .state"),
    steps: names.map((name, index): [string, string] => [name, notes[index] ?? ""]),
  };
}

describe("a test mail", () => {
  test("goes to the signed-in owner, and each step is shown in the relay's words", async () => {
    await using relay = await startRelay();
    await using app = await createAppFor(relay, {
      ALLCLEAR_MAIL_REPLY_TO: "help@example.com",
      ALLCLEAR_MAIL_BOUNCE_ADDRESS: "bounces@example.com",
    });
    const session = await app.signedIn();
    const { answer, state, steps } = await sendTest(app, session);
    expect(answer.status).toBe(200);
    expect(state).toEqual([
      expect.stringMatching(/^Accepted by the relay for owner-\d+@example\.com$/),
    ]);
    expect(steps.map(([name]) => name)).toEqual([
      "Look-up",
      "Connection",
      "Greeting",
      "EHLO",
      "STARTTLS",
      "TLS",
      "EHLO",
      "MAIL FROM",
      "RCPT TO",
      "DATA",
      "End of DATA",
    ]);
    const notes = Object.fromEntries(steps);
    expect(notes["Connection"]).toBe(`127.0.0.1, port ${relay.port}`);
    expect(notes["TLS"]).toMatch(
      /^TLSv1\.\d, certificate for localhost, issued by Allclear test root/,
    );
    expect(notes["End of DATA"]).toBe("250 2.0.0 Ok: queued as 4XyZ");
    const [mail] = relay.mails;
    expect(mail).toMatchObject({
      from: "bounces@example.com",
      name: "status.test",
      isSecure: true,
    });
    expect(mail?.to).toEqual([expect.stringMatching(/^owner-\d+@example\.com$/)]);
    expect(mail?.text).toMatch(
      /^From: =\?UTF-8\?Q\?Northwind_=E2=9C=93\?= <status@example\.com>\r$/m,
    );
    expect(mail?.text).toMatch(/^Reply-To: help@example\.com\r$/m);
    expect(mail?.text).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(mail?.text).toMatch(/^Message-ID: <eml_[0-9a-z]{26}@example\.com>\r$/m);
    expect(mail?.text).toContain("https://status.test");
    expect(mail?.text).toMatch(/^Subject: A test mail from Allclear\r$/m);
    // Text and HTML, like every mail.
    expect(mail?.text.match(/^Content-Type: .*$/gm)).toEqual([
      expect.stringMatching(/^Content-Type: multipart\/alternative;/),
      "Content-Type: text/plain; charset=utf-8",
      "Content-Type: text/html; charset=utf-8",
    ]);
    const { action, summary } = app.audit().at(-1) ?? {};
    expect([action, summary]).toEqual(["mail.test", "Sent a test mail to o…@example.com"]);
  });

  test("shows a refusal of the recipient and of the message", async () => {
    for (const [command, name, text] of [
      ["RCPT", "RCPT TO", "550 5.1.1 No such <b>user</b>"],
      [".", "End of DATA", "554 5.7.1 Looks like spam"],
      ["MAIL", "MAIL FROM", "553 5.7.1 Not your address"],
      ["EHLO", "EHLO", "421 4.3.2 Busy"],
    ] as const) {
      await using relay = await startScriptedRelay(politeRelay({ [command]: text }));
      await using app = await createAppFor(relay, { ALLCLEAR_SMTP_TLS: "none" });
      const { answer, state, steps } = await sendTest(app, await app.signedIn());
      expect([answer.status, state]).toEqual([200, ["The test mail was not accepted"]]);
      expect(steps.at(-1)).toEqual([name, text]);
    }
  });

  test("ends with the refusal, although later commands were sent without waiting", async () => {
    const answers = politeRelay({ RCPT: "550 5.1.1 No such user" }, ["PIPELINING"]);
    await using relay = await startScriptedRelay(answers);
    await using app = await createAppFor(relay, { ALLCLEAR_SMTP_TLS: "none" });
    const { steps } = await sendTest(app, await app.signedIn());
    expect(steps.at(-1)).toEqual(["RCPT TO", "550 5.1.1 No such user"]);
  });

  test("shows a wrong password without it", async () => {
    const credentials = { user: "northwind", password: "correct horse" };
    await using relay = await startRelay({ credentials });
    const env = { ALLCLEAR_SMTP_USER: "northwind", ALLCLEAR_SMTP_PASSWORD: "battery staple" };
    await using app = await createAppFor(relay, env);
    const { answer, state, steps } = await sendTest(app, await app.signedIn());
    expect(state).toEqual(["The test mail was not accepted"]);
    expect(steps.at(-1)).toEqual(["AUTH", "535 Authentication failed"]);
    expect(answer.text).not.toContain("battery staple");
    expect(JSON.stringify(app.logged)).not.toContain("battery staple");
  });

  test.each([
    ["expired", "The certificate expired on 2021-01-01."],
    ["self", "The certificate is self-signed."],
    ["other", "The certificate is for another name."],
  ] as const)("shows a certificate that is not trusted: %s", async (certificate, text) => {
    await using relay = await startRelay({ certificate });
    await using app = await createAppFor(relay);
    const { state, steps } = await sendTest(app, await app.signedIn());
    expect(state).toEqual(["The test mail was not accepted"]);
    expect(steps.at(-1)).toEqual(["STARTTLS", text]);
    expect(relay.mails).toEqual([]);
  });

  test("shows a connection that is refused, and a relay that hangs up", async () => {
    const relay = await startRelay();
    await relay[Symbol.asyncDispose]();
    await using app = await createAppFor(relay);
    const refused = await sendTest(app, await app.signedIn());
    expect(refused.steps.at(-1)).toEqual(["Connection", "The connection was refused."]);
    await using closing = await startScriptedRelay(politeRelay({ RCPT: null }));
    await using other = await createAppFor(closing, { ALLCLEAR_SMTP_TLS: "none" });
    const dropped = await sendTest(other, await other.signedIn());
    expect(dropped.steps.at(-1)).toEqual(["RCPT TO", "The connection was closed."]);
  });

  test("is possible ten times an hour, with the time to wait, also after a restart", async () => {
    await using relay = await startScriptedRelay(politeRelay());
    await using app = await createAppFor(relay, { ALLCLEAR_SMTP_TLS: "none" });
    const session = await app.signedIn();
    for (let sent = 0; sent < 10; sent++) {
      expect((await sendTest(app, session)).answer.status).toBe(200);
      await app.clock.advance(60_000);
    }
    const { answer } = await sendTest(app, session);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, String(50 * 60)]);
    expect(answer.text).toContain(
      "At most 10 test mails are sent in an hour. Try again in 50 minutes.",
    );
    expect(relay.connections()).toBe(10);
    await app.clock.advance(50 * 60_000);
    expect((await sendTest(app, session)).answer.status).toBe(200);
  });

  test("a GET sends nothing", async () => {
    await using relay = await startRelay();
    await using app = await createAppFor(relay);
    const answer = await app.call(TEST, { session: await app.signedIn() });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin/mail"]);
    expect(relay.connections()).toBe(0);
  });
});

describe("a relay that the dashboard names", () => {
  const form = {
    host: "localhost",
    tls: "none",
    from: "status@example.com",
    connections: "4",
    rate_per_minute: "600",
  };

  async function testOf(port: number, env: Record<string, string> = {}) {
    const app = await createMailApp(env);
    const session = await app.signedIn();
    await app.call("/admin/mail", { session, form: { ...form, port: String(port) } });
    const { steps } = await sendTest(app, session);
    await app[Symbol.asyncDispose]();
    return steps.at(-1);
  }

  test("is not reached at a private address, and the error says how to allow it", async () => {
    await using relay = await startScriptedRelay(politeRelay());
    expect(await testOf(relay.port)).toEqual([
      "Look-up",
      "The host's address is not an address of the public internet; to allow it, name the relay by ALLCLEAR_SMTP_HOST, or its network by ALLCLEAR_OUTBOUND_ALLOW.",
    ]);
    expect(relay.connections()).toBe(0);
  });

  test("is reached at a private address that ALLCLEAR_OUTBOUND_ALLOW contains", async () => {
    await using relay = await startScriptedRelay(politeRelay());
    const env = { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" };
    expect(await testOf(relay.port, env)).toEqual(["End of DATA", "250 2.0.0 Ok"]);
  });
});
