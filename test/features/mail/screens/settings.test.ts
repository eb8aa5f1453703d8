import { describe, expect, test } from "bun:test";
import { readMailSettings, readStoredMailSettings } from "../../../../src/features/mail/settings";
import { createTestApp, type TestApp } from "../../../support/app";
import { readHtml } from "../../../support/html";
import { certificateText } from "../../../support/raw-server";

const MAIL = "/admin/mail";

const VALID = {
  host: "smtp.example.com",
  tls: "starttls",
  port: "",
  user: "northwind",
  password: "correct horse",
  from: "Northwind <status@example.com>",
  reply_to: "",
  bounce_address: "",
  connections: "4",
  rate_per_minute: "600",
  ca: "",
};

let forms = 0;

/** Sends the fields with a newly rendered form, since the same form sent twice counts as repeated. */
async function save(app: TestApp, session: string, changes: Record<string, string> = {}) {
  forms += 1;
  return app.call(MAIL, { session, form: { ...VALID, ...changes, form: `form-${forms}` } });
}

describe("the mail settings", () => {
  test("are saved, shown without the password, and audited without it", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    let changes = 0;
    app.ctx.signals.settingsChanged.on(() => (changes += 1));
    const saved = await save(app, session);
    expect([saved.status, saved.headers.get("location")]).toEqual([303, MAIL]);
    expect(changes).toBe(1);
    expect(readMailSettings(app.ctx)).toEqual({
      host: "smtp.example.com",
      port: 587,
      tls: "starttls",
      ca: undefined,
      user: "northwind",
      password: "correct horse",
      connections: 4,
      ratePerMinute: 600,
      from: { name: "Northwind", address: "status@example.com" },
      replyTo: null,
      bounceAddress: null,
      origin: "dashboard",
    });
    const shown = await app.call(MAIL, { session });
    expect(shown.text).not.toContain("correct horse");
    const page = readHtml(shown.text);
    expect(page.attributes('input[name="password"]', "value")).toEqual([]);
    expect(page.texts("#mail-state .state")).toEqual(["Mail can be sent"]);
    const { action, summary } = app.audit().at(-1) ?? {};
    expect([action, summary]).toEqual([
      "mail.configure",
      "Set the mail relay to smtp.example.com:587 (starttls), from Northwind <status@example.com>",
    ]);
    for (const path of ["/admin/settings", "/admin/settings/general"]) {
      expect((await app.call(path, { session })).text).not.toContain("correct horse");
    }
    expect(JSON.stringify(app.logged)).not.toContain("correct horse");
  });

  test("keep the password if it is left empty, but not for another host, user or authority", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    await save(app, session);
    expect((await save(app, session, { password: "", port: "2525" })).status).toBe(303);
    expect(readMailSettings(app.ctx)).toMatchObject({ port: 2525, password: "correct horse" });
    for (const [field, value] of [
      ["host", "smtp.attacker.test"],
      ["user", "someone"],
      ["ca", await certificateText("root")],
    ] as const) {
      const refused = await save(app, session, { password: "", [field]: value });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain(
        "must be typed again with another host, user name or certificates",
      );
    }
    expect((await save(app, session, { password: "", host: "SMTP.example.com" })).status).toBe(303);
    expect(readMailSettings(app.ctx)).toMatchObject({ password: "correct horse", port: 587 });
    expect((await save(app, session, { password: "", user: "" })).status).toBe(303);
    expect(readStoredMailSettings(app.ctx.db)).toMatchObject({ user: null, password: null });
  });

  test("that change nothing are not audited", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    await save(app, session);
    const entries = app.audit().length;
    await save(app, session);
    expect(app.audit()).toHaveLength(entries);
  });

  test("are rejected with every error, and the typed text", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const rejected = await save(app, session, {
      host: "smtp.example.com:587",
      port: "0",
      user: "",
      from: "Northwind",
      reply_to: "x",
      bounce_address: `${"b".repeat(25)}@example.com`,
      connections: "33",
      rate_per_minute: "-1",
      ca: "no certificate",
    });
    expect(rejected.status).toBe(422);
    expect(rejected.text).not.toContain("correct horse");
    const page = readHtml(rejected.text);
    expect(page.texts(".notice.t-major a").length).toBe(9);
    expect(page.attributes('input[name="host"]', "value")).toEqual(["smtp.example.com:587"]);
    expect(readMailSettings(app.ctx)).toBeUndefined();
  });

  test("never send a password without TLS that is required", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    for (const tls of ["opportunistic", "none"]) {
      const rejected = await save(app, session, { tls });
      expect(rejected.status).toBe(422);
      expect(rejected.text).toContain("a password is never sent unencrypted");
    }
    expect((await save(app, session, { tls: "none", user: "", password: "" })).status).toBe(303);
    expect(readMailSettings(app.ctx)).toMatchObject({ port: 25 });
    expect((await save(app, session, { tls: "other" })).status).toBe(422);
  });

  test("take certificates, but no private key", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const root = await certificateText("root");
    expect((await save(app, session, { ca: root })).status).toBe(303);
    expect(readMailSettings(app.ctx)?.ca?.trim()).toBe(root.trim());
    const withKey = await certificateText("good");
    const rejected = await save(app, session, { ca: withKey });
    expect(rejected.status).toBe(422);
    expect(rejected.text).toContain("must not contain a private key");
  });

  test("can be removed, with a question before", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    expect((await app.call(`${MAIL}/remove`, { session })).status).toBe(303);
    await save(app, session);
    expect((await app.call(`${MAIL}/remove`, { session })).text).toContain("smtp.example.com");
    expect((await app.call(`${MAIL}/remove`, { session, form: {} })).status).toBe(303);
    expect(readMailSettings(app.ctx)).toBeUndefined();
    expect(app.audit().at(-1)?.summary).toBe("Removed the mail relay");
    const page = readHtml((await app.call(MAIL, { session })).text);
    expect(page.texts("#mail-state .state")).toEqual(["Mail cannot be sent"]);
  });

  test("are for owners alone", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    expect((await app.call(MAIL, { session })).status).toBe(403);
    expect((await save(app, session)).status).toBe(403);
    expect((await app.call(`${MAIL}/test`, { session, form: {} })).status).toBe(403);
    expect((await app.call(`${MAIL}/remove`, { session, form: {} })).status).toBe(403);
    expect(readMailSettings(app.ctx)).toBeUndefined();
  });

  test("are read-only if a flag or a variable is given, which rules all of them", async () => {
    const env = {
      ALLCLEAR_SMTP_HOST: "relay.internal",
      ALLCLEAR_SMTP_USER: "northwind",
      ALLCLEAR_SMTP_PASSWORD: "correct horse",
      ALLCLEAR_MAIL_FROM: "status@example.com",
    };
    await using app = await createTestApp({ env });
    const session = await app.signedIn();
    const shown = await app.call(MAIL, { session });
    expect(shown.text).not.toContain("correct horse");
    const page = readHtml(shown.text);
    expect(page.texts("#mail-relay .hint").join()).toContain("Set by ALLCLEAR_SMTP_HOST");
    expect(page.texts("#mail-relay dd").slice(0, 2)).toEqual(["relay.internal", "587"]);
    expect(page.texts('input[name="host"]')).toEqual([]);
    expect((await save(app, session)).status).toBe(409);
    expect((await app.call(`${MAIL}/remove`, { session, form: {} })).status).toBe(409);
    expect(readMailSettings(app.ctx)).toMatchObject({ host: "relay.internal", origin: "flags" });
    const general = await app.call("/admin/settings/general", { session });
    expect(general.text).not.toContain("correct horse");
  });
});

test("mail is not ready without a public address other than the listen address", async () => {
  for (const ALLCLEAR_BASE_URL of [undefined, "http://127.0.0.1:8080"]) {
    await using app = await createTestApp({ env: { ALLCLEAR_BASE_URL } });
    const session = await app.signedIn();
    await save(app, session);
    const page = readHtml((await app.call(MAIL, { session })).text);
    expect(page.texts("#mail-state .state")).toEqual(["Mail cannot be sent"]);
    expect(page.texts("#mail-state .detail-note")[0]).toBe("It needs a public address.");
    expect((await app.call(`${MAIL}/test`, { session, form: {} })).status).toBe(409);
  }
});
