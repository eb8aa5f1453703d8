import { describe, expect, test } from "bun:test";
import { readPublicAddress } from "../../../../src/features/settings/settings";
import { listUsers } from "../../../../src/features/users/users";
import { createTestApp } from "../../../support/app";
import {
  ACCOUNT,
  actionsOf,
  expectDead,
  invite,
  isSignedIn,
  NO_BASE_URL,
  PASSWORD,
  sendKeyForm,
  sessionIn,
  setUpPath,
  signIn,
  USERS,
  userWithPassword,
} from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const HOUR = 60 * 60 * 1_000;

const OWNER = {
  name: "Ada",
  email: " Ada@Example.com ",
  password: PASSWORD,
  public_address: "http://nas:8080/",
};

describe("the set-up link", () => {
  test("the set-up link creates the owner, who is signed in at once and can sign in again", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    const answer = await app.call(path, { form: OWNER });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin"]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const session = sessionIn(answer);
    expect((await app.call(USERS, { session })).status).toBe(200);
    expect(listUsers(app.ctx.db)).toMatchObject([
      { email: "ada@example.com", name: "Ada", role: "owner", has_password: true },
    ]);
    expect(actionsOf(app)).toEqual(["user.set_up", "settings.public_address"]);
    expect(app.audit()[0]?.actorKind).toBe("user");
    await signIn(app, "ada@example.com");
  });

  test("the public address of the set-up is used in links and commands", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const session = sessionIn(await app.call(await setUpPath(app), { form: OWNER }));
    expect(readPublicAddress(app.ctx.db)).toBe("http://nas:8080");
    expect((await sendKeyForm(app, session)).text).toContain(" http://nas:8080/api/v1/key");
    const { id } = await invite(app, session, "grace@example.com");
    const link = await app.call(`${USERS}/${id}/link`, { session, form: {} });
    expect(link.text).toContain("http://nas:8080/admin/join/");
  });

  test("the set-up proposes the address that the browser used", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    const plain = await app.call(path, { host: "nas:8080" });
    expect(typedIn(plain.text, "public_address")).toEqual(["http://nas:8080"]);
    const headers = { "x-forwarded-proto": "https" };
    const behindProxy = await app.call(path, { host: "status.acme.test", headers });
    expect(typedIn(behindProxy.text, "public_address")).toEqual(["https://status.acme.test"]);
  });

  test("the set-up neither asks for nor takes a public address if it is set by option", async () => {
    await using app = await createTestApp();
    const path = await setUpPath(app);
    expect(typedIn((await app.call(path)).text, "public_address")).toEqual([]);
    const form = { ...OWNER, public_address: "https://evil.test" };
    expect((await app.call(path, { form })).status).toBe(303);
    expect(readPublicAddress(app.ctx.db)).toBeUndefined();
    expect(app.ctx.baseUrl).toBe("https://status.test");
  });

  test.each([
    ["Europe/Berlin", "Europe/Berlin"],
    ["Asia/Calcutta", "Asia/Calcutta"],
    ["UTC", "UTC"],
    // Without a script.
    ["", "UTC"],
    ["Mars/Base", "UTC"],
    ["x".repeat(65), "UTC"],
  ])("a browser in the time zone “%s” makes an owner in %s", async (named, zone) => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    expect(readHtml((await app.call(path)).text).attributes("[data-browser-zone]", "name")).toEqual(
      ["time_zone"],
    );
    const session = sessionIn(await app.call(path, { form: { ...OWNER, time_zone: named } }));
    expect(typedIn((await app.call(ACCOUNT, { session })).text, "time_zone")).toEqual([zone]);
    // Who has a zone is not asked to set one, also if it is UTC.
    const overview = readHtml((await app.call("/admin", { session })).text);
    const isKnown = zone !== "UTC" || named === "UTC";
    expect(overview.texts("header.screen-head .muted a")).toEqual(isKnown ? [] : ["Account"]);
  });

  test("the set-up link works once, then shows that it has ended and writes nothing", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    expect((await app.call(path)).status).toBe(200);
    const session = sessionIn(await app.call(path, { form: OWNER }));
    await expectDead(app, path, { ...OWNER, email: "eve@example.com" });
    expect(await isSignedIn(app, session)).toBe(true);
  });

  test("submitting the set-up twice at once creates one owner", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    const answers = await Promise.all(
      ["ada@example.com", "eve@example.com"].map((email) =>
        app.call(path, { form: { ...OWNER, email } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 404]);
    expect(listUsers(app.ctx.db)).toHaveLength(1);
    expect(actionsOf(app)).toEqual(["user.set_up", "settings.public_address"]);
  });

  test("the set-up link opens nothing after an hour", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    await app.clock.advance(HOUR - 1);
    expect((await app.call(path)).status).toBe(200);
    await app.clock.advance(1);
    await expectDead(app, path, OWNER);
  });

  test("the set-up link opens nothing after a user was created in another way", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    await userWithPassword(app, "first@example.com");
    await expectDead(app, path, OWNER);
  });

  test("the set-up link opens nothing after a later start has created another", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    const newer = await setUpPath(app);
    await expectDead(app, path, OWNER);
    expect((await app.call(newer, { form: OWNER })).status).toBe(303);
  });

  test("neither a set-up link used as invitation nor an invented one opens anything", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    await expectDead(app, path.replace("/setup/", "/join/"), OWNER);
    await expectDead(app, `/admin/setup/${"x".repeat(43)}`, OWNER);
    await expectDead(app, "/admin/setup/x", OWNER);
    expect((await app.call(path, { form: OWNER })).status).toBe(303);
  });

  test("the sign-in page says that there is no user yet", async () => {
    await using app = await createTestApp();
    const notice = "Allclear is not set up yet";
    expect((await app.call("/admin/sign-in")).text).toContain(notice);
    await userWithPassword(app, "ada@example.com");
    expect((await app.call("/admin/sign-in")).text).not.toContain(notice);
  });
});

describe("the form of the set-up", () => {
  const WRONG = {
    name: "\u0007",
    email: "ada",
    password: "too short",
    public_address: "ftp://nas/path",
  };

  test("an invalid set-up is redisplayed with an error for each field and without the password, and can be sent again", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const path = await setUpPath(app);
    const answer = await app.call(path, { form: WRONG });
    expect(answer.status).toBe(422);
    const errors = fieldErrorsOn(answer.text);
    expect(Object.keys(errors).sort()).toEqual(Object.keys(WRONG).sort());
    const links = readHtml(answer.text).attributes('[role="alert"] li a', "href");
    const fields = ["name", "email", "password", "public_address"];
    expect(links).toEqual(fields.map((name) => `#field-${name}`));
    expect(errors["password"]).toBe("Password is shorter than 12 characters.");
    expect(typedIn(answer.text, "name")).toEqual([WRONG.name]);
    expect(typedIn(answer.text, "email")).toEqual([WRONG.email]);
    expect(typedIn(answer.text, "public_address")).toEqual([WRONG.public_address]);
    expect(answer.text).not.toContain(WRONG.password);
    expect(listUsers(app.ctx.db)).toEqual([]);
    expect(app.audit()).toEqual([]);
    expect((await app.call(path, { form: OWNER })).status).toBe(303);
  });

  for (const [name, wrong] of Object.entries(WRONG)) {
    test(`a set-up with an invalid ${name} is rejected, and no user is created`, async () => {
      await using app = await createTestApp({ env: NO_BASE_URL });
      const path = await setUpPath(app);
      const answer = await app.call(path, { form: { ...OWNER, [name]: wrong } });
      expect(answer.status).toBe(422);
      expect(Object.keys(fieldErrorsOn(answer.text))).toEqual([name]);
      expect(listUsers(app.ctx.db)).toEqual([]);
      expect(readPublicAddress(app.ctx.db)).toBeUndefined();
    });
  }

  test("an empty set-up is rejected with an error for each required field", async () => {
    await using app = await createTestApp({ env: NO_BASE_URL });
    const answer = await app.call(await setUpPath(app), { form: {} });
    expect(Object.keys(fieldErrorsOn(answer.text)).sort()).toEqual(Object.keys(WRONG).sort());
  });

  test("the set-up rejects the email address as the password", async () => {
    await using app = await createTestApp();
    const form = { ...OWNER, password: OWNER.email.toUpperCase() };
    const answer = await app.call(await setUpPath(app), { form });
    expect(fieldErrorsOn(answer.text)).toEqual({
      password: "Password must not be the e-mail address.",
    });
    expect(readHtml(answer.text).texts("h1")).toEqual(["Set up Allclear"]);
  });
});
