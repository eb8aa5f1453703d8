import { describe, expect, test } from "bun:test";
import { listNewestAudits } from "../../src/events/audit-search";
import { openForCommand } from "../../src/installation";
import { testConfig } from "../support/app";
import { commandLine, installedCommandLine } from "../support/command-line";
import { bounceMessage } from "../support/mail-reports";
import { politeRelay, startScriptedRelay } from "../support/relay";
import { temporaryFolder } from "../support/temporary-folder";

const PASSWORD = "correct horse";

/** Returns the variables of a relay on this machine. */
function variablesFor({ port }: { port: number }, more: Record<string, string> = {}) {
  return {
    ALLCLEAR_BASE_URL: "https://status.example.com",
    ALLCLEAR_SMTP_HOST: "127.0.0.1",
    ALLCLEAR_SMTP_PORT: String(port),
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_MAIL_FROM: "Northwind <status@example.com>",
    ...more,
  };
}

describe("allclear mail test", () => {
  test("prints each step, and succeeds if the relay accepts the mail", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const lines: string[] = [];
    const answers = politeRelay();
    await using relay = await startScriptedRelay((line) => {
      lines.push(line);
      return answers(line);
    });
    const { exitCode, out, err } = await run(
      ["mail", "test", "anna@example.com"],
      variablesFor(relay),
    );
    expect([exitCode, err]).toEqual([
      0,
      ["The relay accepted the test mail for anna@example.com."],
    ]);
    expect(out.map((line) => line.slice(0, 19).trim())).toEqual([
      "ok      Look-up",
      "ok      Connection",
      "ok      Greeting",
      "ok      EHLO",
      "ok      MAIL FROM",
      "ok      RCPT TO",
      "ok      DATA",
      "ok      End of DATA",
    ]);
    expect(out.at(-1)).toEndWith("250 2.0.0 Ok");
    expect(lines).toContain("EHLO status.example.com");
    expect(lines).toContain("RCPT TO:<anna@example.com>");
    const data = openForCommand(testConfig({ ALLCLEAR_DATA_DIR: folder.path }), "test", {
      canCreate: false,
    });
    const [entry] = listNewestAudits(data.ctx.db, { limit: 10 });
    data.close();
    expect(entry).toMatchObject({
      actorKind: "cli",
      action: "mail.test",
      summary: "Sent a test mail to a…@example.com",
    });
  });

  test("fails with the relay's words if the mail is refused", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await using relay = await startScriptedRelay(politeRelay({ RCPT: "550 5.1.1 No such user" }));
    const { exitCode, out, err } = await run(
      ["mail", "test", "anna@example.com"],
      variablesFor(relay),
    );
    expect([exitCode, out.at(-1)]).toEqual([1, "failed  RCPT TO      550 5.1.1 No such user"]);
    expect(err).toEqual(["The test mail for anna@example.com was not accepted."]);
  });

  test("is possible ten times an hour", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    await using relay = await startScriptedRelay(() => "554 5.7.1 No");
    for (let sent = 0; sent < 10; sent++) {
      await run(["mail", "test", "anna@example.com"], variablesFor(relay));
    }
    const refused = await run(["mail", "test", "anna@example.com"], variablesFor(relay));
    expect(refused).toMatchObject({ exitCode: 1, out: [] });
    expect(refused.err[0]).toStartWith("At most 10 test mails are sent in an hour.");
    expect(relay.connections()).toBe(10);
  });

  test("needs a valid address, and a relay", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const relay = { port: 25 };
    const invalid = await run(["mail", "test", "anna"], variablesFor(relay));
    expect(invalid).toMatchObject({ exitCode: 2, out: [] });
    expect(invalid.err[0]).toBe("ADDRESS must be an e-mail address, such as name@example.com.");
    const without = await run(["mail", "test", "anna@example.com"]);
    expect(without).toMatchObject({ exitCode: 1, out: [] });
    expect(without.err).toEqual(["Mail needs an SMTP relay, a sender and a public address first."]);
  });
});

describe("allclear mail status", () => {
  test("prints the relay without the password", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const secret = `${folder.path}/secret`;
    await Bun.write(secret, `${PASSWORD}\n`);
    const env = variablesFor(
      { port: 2525 },
      {
        ALLCLEAR_SMTP_TLS: "starttls",
        ALLCLEAR_SMTP_USER: "northwind",
        ALLCLEAR_SMTP_PASSWORD_FILE: secret,
      },
    );
    const { exitCode, out, err } = await run(["mail", "status"], env);
    expect([exitCode, err]).toEqual([0, []]);
    expect(out).toEqual([
      "Mail can be sent.",
      "Relay     127.0.0.1:2525, TLS starttls",
      "User      northwind",
      "From      Northwind <status@example.com>",
      "Bounces   status@example.com",
      "Links     https://status.example.com",
      expect.stringMatching(/^Set by {4}ALLCLEAR_SMTP_HOST, ALLCLEAR_SMTP_PORT/),
      "State     unknown: nothing was sent yet",
      "Waiting   accounts and sign-ups: 0",
      "Waiting   alerts: 0",
      "Waiting   mailings: 0",
      "Reports   0 unmatched reports in the last 30 days",
      "Token     none",
    ]);
  });

  test("fails if mail cannot be sent, and says what is missing", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    expect(
      await run(["mail", "status"], { ALLCLEAR_BASE_URL: "https://status.example.com" }),
    ).toEqual({
      exitCode: 1,
      out: ["Mail cannot be sent: it needs an SMTP relay and a sender."],
      err: [],
    });
  });
});

describe("allclear mail bounce", () => {
  test("records a report from standard input", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const bounce = (message: string) => run(["mail", "bounce"], {}, message.split("\n"));
    expect(await bounce(bounceMessage({}))).toEqual({
      exitCode: 0,
      out: [],
      err: ["The report belongs to no mail. The mail settings list it for 30 days."],
    });
    expect(await bounce(bounceMessage({ action: "delayed" }))).toMatchObject({
      exitCode: 0,
      err: ["Nothing to record: the message does not say that a mail failed."],
    });
    expect((await bounce("")).exitCode).toBe(0);
  });

  test("makes the mail server try again if anything fails", async () => {
    using folder = temporaryFolder();
    const run = commandLine(`${folder.path}/missing`);
    const message = bounceMessage({}).split("\n");
    expect((await run(["mail", "bounce"], {}, message)).exitCode).toBe(75);
    const wrong = { ALLCLEAR_SMTP_PORT: "x" };
    expect((await run(["mail", "bounce"], wrong, message)).exitCode).toBe(75);
    expect((await run(["mail", "bounce", "--typo"], {}, message)).exitCode).toBe(75);
  });
});
