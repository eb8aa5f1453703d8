import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import type { Reply } from "../../../src/features/mail/reply";
import { type RelayConnection, RelayFault, type RelayStep } from "../../../src/features/mail/relay";
import { createTestClock, settle } from "../../support/clock";
import { certificateText, startRawServer } from "../../support/raw-server";
import { connectToRelay, politeRelay, startRelay, startScriptedRelay } from "../../support/relay";

const MAIL = {
  envelope: { from: "status@example.com", to: "anna@example.com" },
  message: Buffer.from("Subject: Hello\r\n\r\n.\r\nText\r\n"),
};

const ACCEPTED: Reply = {
  stage: "message",
  code: 250,
  enhanced: "2.0.0",
  text: "Ok: queued as 4XyZ",
};

/** First byte of a TLS record with a part of the handshake. */
const TLS_HANDSHAKE = 0x16;

const CREDENTIALS = { user: "northwind", password: "correct horse" };

function connectionOf(outcome: RelayConnection | RelayFault): RelayConnection {
  if (outcome instanceof RelayFault) throw new Error(JSON.stringify(outcome.reply));
  return outcome;
}

function replyOf(outcome: RelayConnection | RelayFault): Reply {
  if (outcome instanceof RelayFault) return outcome.reply;
  outcome.close();
  throw new Error("the relay was connected");
}

describe("TLS with a relay", () => {
  for (const tls of ["starttls", "implicit", "opportunistic"] as const) {
    test(`a mail is sent encrypted, with the name of the public address in EHLO: ${tls}`, async () => {
      await using relay = await startRelay({ secure: tls === "implicit" });
      const connection = connectionOf(await connectToRelay(relay, { tls }));
      expect(await connection.send(MAIL)).toEqual(ACCEPTED);
      expect(relay.mails).toEqual([
        {
          from: "status@example.com",
          to: ["anna@example.com"],
          text: "Subject: Hello\r\n\r\n.\r\nText\r\n",
          user: undefined,
          isSecure: true,
          name: "status.example.com",
        },
      ]);
      connection.close();
      expect(connection.isUsable).toBe(false);
    });
  }

  test("a mail is sent unencrypted with the mode none, and where the relay offers no STARTTLS with opportunistic", async () => {
    await using offering = await startRelay();
    await using plain = await startRelay({ hideSTARTTLS: true });
    for (const [relay, tls] of [
      [offering, "none"],
      [plain, "opportunistic"],
    ] as const) {
      const connection = connectionOf(await connectToRelay(relay, { tls }));
      expect(await connection.send(MAIL)).toEqual(ACCEPTED);
      expect(relay.mails[0]?.isSecure).toBe(false);
      connection.close();
    }
  });

  test.each([
    ["expired", "localhost", "The certificate expired on 2021-01-01."],
    ["self", "localhost", "The certificate is self-signed."],
    ["other", "localhost", "The certificate is for another name."],
    ["good", "relay.test", "The certificate is for another name."],
  ] as const)(
    "a certificate that is not trusted ends the connection, except with opportunistic: %s for %s",
    async (certificate, host, text) => {
      await using upgrading = await startRelay({ certificate });
      await using implicit = await startRelay({ certificate, secure: true });
      const failure = { code: null, enhanced: null, text };
      const starttls = await connectToRelay(upgrading, { host });
      expect(replyOf(starttls)).toEqual({ stage: "starttls", ...failure });
      const fromStart = await connectToRelay(implicit, { host, tls: "implicit" });
      expect(replyOf(fromStart)).toEqual({ stage: "connect", ...failure });
      const unverified = await connectToRelay(upgrading, { host, tls: "opportunistic" });
      const connection = connectionOf(unverified);
      expect(await connection.send(MAIL)).toEqual(ACCEPTED);
      connection.close();
    },
  );

  test("a private authority is trusted for the relay that names it", async () => {
    await using relay = await startRelay({ certificate: "self" });
    await using implicit = await startRelay({ certificate: "self", secure: true });
    const ca = await certificateText("self");
    connectionOf(await connectToRelay(relay, { ca })).close();
    connectionOf(await connectToRelay(implicit, { ca, tls: "implicit" })).close();
    expect(replyOf(await connectToRelay(relay)).text).toBe("The certificate is self-signed.");
  });

  test("no credentials are sent after STARTTLS to a relay that is not trusted", async () => {
    const users: unknown[] = [];
    await using relay = await startRelay({
      certificate: "other",
      credentials: CREDENTIALS,
      onAuth(auth, _session, done) {
        users.push(auth.username);
        done(null, { user: "northwind" });
      },
    });
    expect(replyOf(await connectToRelay(relay, CREDENTIALS)).stage).toBe("starttls");
    expect(users).toEqual([]);
  });

  test("starttls ends the connection if STARTTLS was removed from the relay's offers, or is refused", async () => {
    await using stripped = await startRelay({ hideSTARTTLS: true });
    expect(replyOf(await connectToRelay(stripped))).toEqual({
      stage: "starttls",
      code: null,
      enhanced: null,
      text: "The relay does not offer STARTTLS.",
    });
    const answers = politeRelay({ STARTTLS: "454 4.7.0 TLS not available" }, ["STARTTLS"]);
    await using refusing = await startScriptedRelay(answers);
    expect(replyOf(await connectToRelay(refusing))).toEqual({
      stage: "starttls",
      code: 454,
      enhanced: "4.7.0",
      text: "TLS not available",
    });
    await using old = await startScriptedRelay(politeRelay({ EHLO: "502 5.5.2 What?" }));
    expect(replyOf(await connectToRelay(old))).toMatchObject({ stage: "ehlo", code: 502 });
  });

  test("a failed handshake is named", async () => {
    const text = "The server does not speak TLS on this port.";
    const answers = politeRelay({ STARTTLS: "220 Go ahead" }, ["STARTTLS"]);
    await using broken = await startRawServer((socket) => {
      socket.write(`${answers("")}\r\n`);
      socket.on("data", (bytes: Buffer) => {
        const isHandshake = bytes[0] === TLS_HANDSHAKE;
        socket.write(`${isHandshake ? "No TLS here" : answers(bytes.toString().trim())}\r\n`);
      });
    });
    expect(replyOf(await connectToRelay(broken))).toMatchObject({
      stage: "starttls",
      code: null,
      text,
    });
    await using plain = await startRelay();
    expect(replyOf(await connectToRelay(plain, { tls: "implicit" }))).toMatchObject({
      stage: "connect",
      text,
    });
  });
});

describe("AUTH with a relay", () => {
  for (const method of ["PLAIN", "LOGIN"]) {
    test(`credentials are sent by ${method}`, async () => {
      await using relay = await startRelay({ credentials: CREDENTIALS, authMethods: [method] });
      const connection = connectionOf(await connectToRelay(relay, CREDENTIALS));
      await connection.send(MAIL);
      expect(relay.mails[0]).toMatchObject({ user: "northwind", isSecure: true });
      connection.close();
    });
  }

  test("wrong credentials end the connection with the relay's words, which hold no password", async () => {
    const echo = Buffer.from("\0northwind\0correct horse").toString("base64");
    await using relay = await startRelay({
      credentials: CREDENTIALS,
      onAuth(_auth, _session, done) {
        const message = `5.7.8 Not correct horse (${echo})`;
        done(Object.assign(new Error(message), { responseCode: 535 }));
      },
    });
    const steps: RelayStep[] = [];
    const onStep = (step: RelayStep) => void steps.push(step);
    const outcome = await connectToRelay(relay, CREDENTIALS, { onStep });
    const text = "Not [redacted] ([redacted])";
    expect(replyOf(outcome)).toEqual({ stage: "auth", code: 535, enhanced: "5.7.8", text });
    expect(steps.at(-1)).toEqual({ step: "auth", isOk: false, text: `535 5.7.8 ${text}` });
    expect(JSON.stringify(steps)).not.toContain("correct horse");
    expect(JSON.stringify(steps)).not.toContain(echo);
  });

  test("a relay without AUTH is not used with credentials", async () => {
    await using relay = await startRelay();
    expect(replyOf(await connectToRelay(relay, CREDENTIALS))).toEqual({
      stage: "auth",
      code: null,
      enhanced: null,
      text: "The relay offers no AUTH, so the user name and password cannot be used.",
    });
    await using other = await startRelay({ credentials: CREDENTIALS, authMethods: ["CRAM-MD5"] });
    expect(replyOf(await connectToRelay(other, CREDENTIALS))).toMatchObject({
      stage: "auth",
      code: null,
    });
    expect(relay.mails).toEqual([]);
  });

  test("credentials are never sent without verified TLS", async () => {
    const lines: string[] = [];
    const answers = politeRelay({}, ["AUTH PLAIN LOGIN"]);
    await using relay = await startScriptedRelay((line) => {
      lines.push(line);
      return answers(line);
    });
    for (const tls of ["none", "opportunistic", "starttls"] as const) {
      expect(replyOf(await connectToRelay(relay, { tls, ...CREDENTIALS })).code).toBeNull();
    }
    expect(lines.filter((line) => line.startsWith("AUTH"))).toEqual([]);
  });
});

/** Sends a mail through a relay that answers as described, and returns the reply with the connection. */
async function sendThrough(
  special: Readonly<Record<string, string | null | undefined>>,
  extensions: readonly string[] = [],
) {
  await using relay = await startScriptedRelay(politeRelay(special, extensions));
  const connection = connectionOf(await connectToRelay(relay, { tls: "none" }));
  const reply = await connection.send(MAIL);
  const isUsable = connection.isUsable;
  connection.close();
  return { reply, isUsable };
}

describe("replies of a relay", () => {
  for (const extensions of [[], ["PIPELINING"]]) {
    const mode = extensions[0] ?? "one command at a time";

    test.each([
      ["MAIL", "mail", "550 5.7.1 Sender refused"],
      ["MAIL", "mail", "451 4.3.0 Later"],
      ["RCPT", "rcpt", "550 5.1.1 No such user"],
      ["RCPT", "rcpt", "450 4.2.0 Greylisted"],
      ["DATA", "data", "554 5.5.1 No"],
      [".", "message", "554 5.6.0 Content refused"],
      [".", "message", "452 4.3.1 Disk full"],
    ])(`the reply to %s is that of its stage (${mode}): %s, %s`, async (command, stage, text) => {
      const { reply } = await sendThrough({ [command]: text }, extensions);
      const [code, enhanced] = text.split(" ");
      const words = text.split(" ").slice(2).join(" ");
      expect<unknown>(reply).toEqual({ stage, code: Number(code), enhanced, text: words });
    });

    test.each([
      ["MAIL", "mail"],
      ["RCPT", "rcpt"],
      ["DATA", "data"],
      [".", "message"],
    ])(`421 ends the connection (${mode}): %s`, async (command, stage) => {
      const { reply, isUsable } = await sendThrough({ [command]: "421 4.3.2 Closing" }, extensions);
      expect<unknown>(reply).toMatchObject({ stage, code: 421, enhanced: "4.3.2" });
      expect(isUsable).toBe(false);
    });

    test.each([
      ["RCPT", "rcpt"],
      [".", "message"],
    ])(`a lost connection has no code (${mode}): %s`, async (command, stage) => {
      const { reply, isUsable } = await sendThrough({ [command]: null }, extensions);
      const text = "The connection was closed.";
      expect<unknown>(reply).toEqual({ stage, code: null, enhanced: null, text });
      expect(isUsable).toBe(false);
    });

    test(`after a refused recipient and a reset, the next mail is sent (${mode})`, async () => {
      const answers = politeRelay({ ".": "250 2.0.0 Ok: queued as 4XyZ" }, extensions);
      const lines: string[] = [];
      await using relay = await startScriptedRelay((line) => {
        lines.push(line);
        const isRefused = line === "RCPT TO:<anna@example.com>";
        return isRefused ? "550 5.1.1 No such user" : answers(line);
      });
      const connection = connectionOf(await connectToRelay(relay, { tls: "none" }));
      expect((await connection.send(MAIL)).code).toBe(550);
      await connection.reset();
      const other = { ...MAIL, envelope: { ...MAIL.envelope, to: "bert@example.com" } };
      expect(await connection.send(other)).toEqual(ACCEPTED);
      expect(connection.sent).toBe(2);
      expect(lines).toContain("RSET");
      connection.close();
    });
  }

  test("a reply of several lines is one text without codes and control characters", async () => {
    const lines = [
      "550-5.7.1 Your \u0007message",
      "550-5.7.1 was\trefused:",
      "550 5.7.1 see https://example.com",
    ];
    const { reply } = await sendThrough({ RCPT: lines.join("\r\n") });
    expect(reply.text).toBe("Your message was refused: see https://example.com");
    const long = await sendThrough({ RCPT: `550 ${"x".repeat(5_000)}` });
    expect(long.reply.text).toHaveLength(500);
  });

  test("a reply without end is not read to its end", async () => {
    const { reply, isUsable } = await sendThrough({ RCPT: `550-${"x".repeat(100_000)}` });
    expect([reply.code, isUsable]).toEqual([null, false]);
  });

  test("a reply that was not asked for is no success", async () => {
    const { reply, isUsable } = await sendThrough({ RCPT: "250 Ok\r\n250 Ok\r\n250 Ok\r\n250 Ok" });
    expect(reply.code === null || reply.stage !== "message").toBe(true);
    expect(isUsable).toBe(false);
  });

  test("a refused greeting ends the connection with its reply", async () => {
    await using relay = await startScriptedRelay(() => "554 5.7.1 Go away");
    expect(replyOf(await connectToRelay(relay, { tls: "none" }))).toEqual({
      stage: "greeting",
      code: 554,
      enhanced: "5.7.1",
      text: "Go away",
    });
    await using closing = await startScriptedRelay(() => null);
    expect(replyOf(await connectToRelay(closing, { tls: "none" }))).toMatchObject({
      stage: "greeting",
      code: null,
    });
  });

  test("a refused connection and an unknown name are named", async () => {
    const server = await startRawServer(() => {});
    await server[Symbol.asyncDispose]();
    expect(replyOf(await connectToRelay(server))).toMatchObject({
      stage: "connect",
      code: null,
      text: "The connection was refused.",
    });
    expect(replyOf(await connectToRelay({ port: 25 }, { host: "nowhere.test" })).text).toBe(
      "The name has no address.",
    );
  });
});

describe("extensions of a relay", () => {
  test("extensions are those of the last EHLO", async () => {
    await using relay = await startRelay({ hideDSN: false });
    const connection = connectionOf(await connectToRelay(relay));
    expect(connection.extensions).toContain("PIPELINING");
    expect(connection.extensions).not.toContain("STARTTLS");
    connection.close();
  });

  test("DSN is asked for only where it is offered", async () => {
    for (const extensions of [[], ["DSN"]]) {
      const lines: string[] = [];
      const answers = politeRelay({}, extensions);
      await using relay = await startScriptedRelay((line) => {
        lines.push(line);
        return answers(line);
      });
      const connection = connectionOf(await connectToRelay(relay, { tls: "none" }));
      const envelope = { ...MAIL.envelope, dsn: { envid: "eml_1" } };
      await connection.send({ ...MAIL, envelope });
      connection.close();
      const isOffered = extensions.length > 0;
      expect(lines).toContain(
        `MAIL FROM:<status@example.com>${isOffered ? " RET=HDRS ENVID=eml_1" : ""}`,
      );
      expect(lines).toContain(`RCPT TO:<anna@example.com>${isOffered ? " NOTIFY=FAILURE" : ""}`);
    }
  });

  test("an address outside ASCII is sent with SMTPUTF8, and is refused here where that is not offered", async () => {
    const envelope = { ...MAIL.envelope, to: "юлия@example.com" };
    for (const extensions of [[], ["SMTPUTF8"]]) {
      const lines: string[] = [];
      const answers = politeRelay({}, extensions);
      await using relay = await startScriptedRelay((line) => {
        lines.push(Buffer.from(line, "latin1").toString());
        return answers(line);
      });
      const connection = connectionOf(await connectToRelay(relay, { tls: "none" }));
      const reply = await connection.send({ ...MAIL, envelope });
      connection.close();
      if (extensions.length > 0) {
        expect(reply.code).toBe(250);
        expect(lines).toContain("MAIL FROM:<status@example.com> SMTPUTF8");
        expect(lines).toContain("RCPT TO:<юлия@example.com>");
      } else {
        expect(reply).toMatchObject({ stage: "rcpt", code: 553, enhanced: "5.6.7" });
        expect(lines.filter((line) => line.startsWith("MAIL"))).toEqual([]);
      }
    }
  });
});

describe("time limits of a relay", () => {
  test.each([
    ["", "greeting", 30_000],
    ["EHLO", "ehlo", 30_000],
  ])("a relay that does not answer is left: %j", async (command, stage, limit) => {
    const clock = createTestClock();
    const asked = Promise.withResolvers<void>();
    const answers = politeRelay({ [command]: undefined });
    await using relay = await startScriptedRelay((line) => {
      if (line.startsWith(command)) asked.resolve();
      return answers(line);
    });
    const connecting = connectToRelay(relay, { tls: "none", clock });
    await asked.promise;
    await untilIdle();
    await clock.advance(limit);
    expect<unknown>(replyOf(await connecting)).toMatchObject({ stage, code: null });
  });

  test.each([
    ["RCPT", "rcpt", 30_000],
    [".", "message", 300_000],
  ])("a mail waits for a reply only so long: %j", async (command, stage, limit) => {
    const clock = createTestClock();
    const asked = Promise.withResolvers<void>();
    const answers = politeRelay({ [command]: undefined });
    await using relay = await startScriptedRelay((line) => {
      if (line.startsWith(command)) asked.resolve();
      return line.startsWith(command) ? undefined : answers(line);
    });
    const connection = connectionOf(await connectToRelay(relay, { tls: "none", clock }));
    const sending = connection.send(MAIL);
    await asked.promise;
    await untilIdle();
    await clock.advance(limit - 1);
    expect(connection.isUsable).toBe(true);
    await clock.advance(1);
    expect<unknown>(await sending).toMatchObject({ stage, code: null });
    expect((await sending).text).toStartWith("Timed out");
    expect(connection.isUsable).toBe(false);
  });

  test("an unanswered connection ends after ten seconds", async () => {
    const clock = createTestClock();
    const accepted = Promise.withResolvers<Socket>();
    await using relay = await startRawServer((socket) => accepted.resolve(socket));
    const connecting = connectToRelay(relay, { tls: "implicit", clock });
    await accepted.promise;
    await clock.advance(10_000);
    expect(replyOf(await connecting)).toMatchObject({ stage: "connect", code: null });
  });

  test("a connection that is aborted or lost sends nothing more", async () => {
    const abort = new AbortController();
    await using relay = await startRelay();
    const connection = connectionOf(await connectToRelay(relay, {}, { signal: abort.signal }));
    abort.abort();
    expect(connection.isUsable).toBe(false);
    expect((await connection.send(MAIL)).code).toBeNull();
    expect(relay.mails).toEqual([]);
    const lasting = new AbortController();
    const removed: string[] = [];
    const { signal } = lasting;
    const remove = signal.removeEventListener.bind(signal);
    signal.removeEventListener = (type: string, listener: EventListener) => {
      removed.push(type);
      remove(type, listener);
    };
    connectionOf(await connectToRelay(relay, {}, { signal })).close();
    expect(removed).toContain("abort");
    const aborted = await connectToRelay(relay, {}, { signal: AbortSignal.abort() });
    expect(replyOf(aborted).code).toBeNull();
  });
});

/** Lets the bytes that were written on loopback arrive. */
async function untilIdle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await settle();
}

test("each step of a connection is reported with the relay's words", async () => {
  await using relay = await startRelay({ credentials: CREDENTIALS, banner: "Welcome" });
  const steps: RelayStep[] = [];
  const onStep = (step: RelayStep) => void steps.push(step);
  const connection = connectionOf(await connectToRelay(relay, CREDENTIALS, { onStep }));
  await connection.send(MAIL);
  connection.close();
  expect(steps.every(({ isOk }) => isOk)).toBe(true);
  const names = steps.map(({ step }) => step);
  expect(names.slice(0, 8)).toEqual([
    "lookup",
    "connect",
    "greeting",
    "ehlo",
    "starttls",
    "tls",
    "ehlo",
    "auth",
  ]);
  expect(names.slice(8, 12)).toEqual(["mail", "rcpt", "data", "message"]);
  const textOf = (name: string) => steps.find(({ step }) => step === name)?.text;
  expect(textOf("lookup")).toBe("127.0.0.1");
  expect(textOf("connect")).toBe(`127.0.0.1, port ${relay.port}`);
  expect(textOf("greeting")).toContain("Welcome");
  expect(textOf("tls")).toMatch(
    /^TLSv1\.\d, certificate for localhost, issued by Allclear test root, valid until 2099-01-01$/,
  );
  expect(textOf("message")).toBe("250 2.0.0 Ok: queued as 4XyZ");
});
