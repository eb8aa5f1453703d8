import { describe, expect, test } from "bun:test";
import { type GivenFlags, loadConfig } from "../../../src/base/config/load";
import { readMailSettings } from "../../../src/features/mail/settings";
import { createTestApp } from "../../support/app";
import { certificateText } from "../../support/raw-server";
import { temporaryFolder } from "../../support/temporary-folder";

const SECRET = "correct horse";

const RELAY = { ALLCLEAR_SMTP_HOST: "smtp.example.com", ALLCLEAR_MAIL_FROM: "status@example.com" };

function problemsOf(env: Record<string, string>, flags: GivenFlags = {}): string[] {
  const loaded = loadConfig(flags, env);
  return "problems" in loaded ? loaded.problems : [];
}

describe("the options of the relay", () => {
  test("are not needed", () => {
    expect(problemsOf({})).toEqual([]);
  });

  test("have defaults, and a port by the encryption", async () => {
    for (const [tls, port] of [
      ["implicit", 465],
      ["starttls", 587],
      ["opportunistic", 25],
      ["none", 25],
    ] as const) {
      await using app = await createTestApp({ env: { ...RELAY, ALLCLEAR_SMTP_TLS: tls } });
      expect(readMailSettings(app.ctx)).toEqual({
        host: "smtp.example.com",
        port,
        tls,
        ca: undefined,
        user: undefined,
        password: undefined,
        connections: 4,
        ratePerMinute: 600,
        from: { name: null, address: "status@example.com" },
        replyTo: null,
        bounceAddress: null,
        origin: "flags",
      });
    }
  });

  test("rule all of each other once one of them is given, so that the host and the sender are required", () => {
    expect(problemsOf({ ALLCLEAR_SMTP_RATE: "10" })).toEqual([
      "--smtp-host is required, since another setting of the relay is set.",
      "--mail-from is required with a relay.",
    ]);
    expect(problemsOf({}, { smtpHost: "smtp.example.com" })).toEqual([
      "--mail-from is required with a relay.",
    ]);
  });

  test("report every wrong value together, with its flag or variable", () => {
    const env = {
      ALLCLEAR_SMTP_HOST: "smtp.example.com:587",
      ALLCLEAR_SMTP_PORT: "65536",
      ALLCLEAR_SMTP_TLS: "ssl",
      ALLCLEAR_SMTP_CONNECTIONS: "0",
      ALLCLEAR_SMTP_RATE: "-1",
      ALLCLEAR_MAIL_FROM: "Northwind",
      ALLCLEAR_MAIL_REPLY_TO: "help@example",
      ALLCLEAR_MAIL_BOUNCE_ADDRESS: `${"b".repeat(25)}@example.com`,
    };
    const problems = problemsOf(env);
    expect(problems).toHaveLength(8);
    for (const [index, name] of Object.keys(env).entries()) {
      expect(problems.filter((problem) => problem.startsWith(`${name} `))).toHaveLength(1);
      expect(problems[index]).toContain(" must ");
    }
    expect(problems).toContain(
      'ALLCLEAR_SMTP_HOST must be a host name or address without a port, such as smtp.example.com; it is "smtp.example.com:587".',
    );
  });

  test("take IPv6 addresses and international names as hosts", () => {
    for (const [typed, host] of [
      ["[2001:db8::25]", "2001:db8::25"],
      ["2001:db8::25", "2001:db8::25"],
      ["Bücher.example", "xn--bcher-kva.example"],
    ]) {
      const loaded = loadConfig(
        { smtpHost: typed as string },
        { ALLCLEAR_MAIL_FROM: "a@example.com" },
      );
      expect("config" in loaded && loaded.config.smtpHost).toBe(host as string);
    }
    for (const host of ["", "a b", "user@host", "http://host", "host/path", "[host"]) {
      expect(problemsOf({ ...RELAY, ALLCLEAR_SMTP_HOST: host })).toHaveLength(1);
    }
  });

  test("take a user with a password, and only with TLS that is required", () => {
    const user = { ...RELAY, ALLCLEAR_SMTP_USER: "northwind" };
    expect(problemsOf(user)).toEqual(["ALLCLEAR_SMTP_PASSWORD is required with a user name."]);
    const both = { ...user, ALLCLEAR_SMTP_PASSWORD: SECRET };
    expect(problemsOf(both)).toEqual([]);
    expect(problemsOf({ ...both, ALLCLEAR_SMTP_TLS: "implicit" })).toEqual([]);
    for (const tls of ["opportunistic", "none"]) {
      expect(problemsOf({ ...both, ALLCLEAR_SMTP_TLS: tls })).toEqual([
        "ALLCLEAR_SMTP_TLS must be implicit or starttls with a user name: a password is never sent unencrypted.",
      ]);
    }
    expect(problemsOf({ ...RELAY, ALLCLEAR_SMTP_PASSWORD: SECRET })).toEqual([
      "--smtp-user is required with a password.",
    ]);
  });

  test("take the password from a file, without the line break at its end", async () => {
    using folder = temporaryFolder();
    const file = `${folder.path}/password`;
    await Bun.write(file, `${SECRET}\r\n`);
    const env = { ...RELAY, ALLCLEAR_SMTP_USER: "northwind", ALLCLEAR_SMTP_PASSWORD_FILE: file };
    await using app = await createTestApp({ env });
    expect(readMailSettings(app.ctx)?.password).toBe(SECRET);
    expect(problemsOf({ ...env, ALLCLEAR_SMTP_PASSWORD: "other" })).toEqual([
      "ALLCLEAR_SMTP_PASSWORD and ALLCLEAR_SMTP_PASSWORD_FILE must not both be set.",
    ]);
    expect(problemsOf({ ...env, ALLCLEAR_SMTP_PASSWORD_FILE: `${file}.missing` })).toEqual([
      `ALLCLEAR_SMTP_PASSWORD_FILE must name a file that can be read (ENOENT).`,
    ]);
  });

  test("never repeat a wrong password", async () => {
    using folder = temporaryFolder();
    const file = `${folder.path}/password`;
    await Bun.write(file, `${SECRET}\nsecond line`);
    const user = { ...RELAY, ALLCLEAR_SMTP_USER: "northwind" };
    for (const [name, value] of [
      ["ALLCLEAR_SMTP_PASSWORD", `${SECRET}\u0000`],
      ["ALLCLEAR_SMTP_PASSWORD", SECRET.repeat(100)],
      ["ALLCLEAR_SMTP_PASSWORD_FILE", file],
      ["ALLCLEAR_SMTP_PASSWORD_FILE", SECRET],
    ] as const) {
      const problems = problemsOf({ ...user, [name]: value });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toStartWith(name);
      expect(problems[0]).not.toContain(SECRET);
    }
  });

  test("have no flag for the password", () => {
    const flags = { smtpPassword: SECRET } as GivenFlags;
    expect(JSON.stringify(problemsOf(RELAY, flags))).not.toContain(SECRET);
  });

  test("take certificates in PEM from a file, and no private key", async () => {
    using folder = temporaryFolder();
    const file = `${folder.path}/ca.pem`;
    const withContent = async (content: string) => {
      await Bun.write(file, content);
      return problemsOf({ ...RELAY, ALLCLEAR_SMTP_CA: file });
    };
    const root = await certificateText("root");
    expect(await withContent(`${root}\n${root}`)).toEqual([]);
    expect((await withContent("nothing"))[0]).toContain("must contain certificates in PEM");
    expect((await withContent(await certificateText("good")))[0]).toContain("a private key");
    const damaged = root.replace(/\n[A-Za-z0-9+/]{40}/, "\nAAAA");
    expect((await withContent(`${root}\n${damaged}`))[0]).toContain("number 2 is not one");
    const missing = problemsOf({ ...RELAY, ALLCLEAR_SMTP_CA: `${file}.missing` });
    expect(missing[0]).toContain("must name a file that can be read (ENOENT)");
  });
});
