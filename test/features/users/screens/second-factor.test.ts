import { describe, expect, test } from "bun:test";
import { CLI_ACTOR, ROLES } from "../../../../src/base/actor";
import { sha256 } from "../../../../src/base/hash";
import { MINUTE_MS } from "../../../../src/base/time";
import { findUserByEmail, setRole } from "../../../../src/features/users/users";
import { createAccountMailSite } from "../../../support/account-mail";
import { type Answer, createTestApp, expectProblem, type TestApp } from "../../../support/app";
import {
  ACCOUNT,
  actionsOf,
  HTML,
  isSignedIn,
  PASSWORD,
  sessionIn,
  signIn,
  trySignIn,
  USERS,
  userWithPassword,
} from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  codeAt,
  enrol,
  listFactors,
  listRecoveryCodes,
  passwordStep,
  SECOND_FACTOR,
  sendCode,
  signInByCode,
  wrongCode,
} from "../../../support/second-factors";

const ADA = "ada@example.com";
const GRACE = "grace@example.com";
const CODES = `${SECOND_FACTOR}/recovery-codes`;
const OFF = `${SECOND_FACTOR}/off`;

/** An app with Ada, the owner, who is signed in without a second factor. */
async function withAda(options: Parameters<typeof createTestApp>[0] = {}) {
  const app = await createTestApp(options);
  const { id } = await userWithPassword(app, ADA);
  const session = await signIn(app, ADA);
  return { app, id, session, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

/** Reads the secret of the form, as a person who cannot scan the picture. */
function secretOn({ text }: Answer): string {
  const [shown = ""] = readHtml(text).texts("[data-secret]");
  return shown.replaceAll(" ", "");
}

/** Returns the recovery codes that a page shows. */
function recoveryCodesOn({ text }: Answer): string[] {
  expect(readHtml(text).texts("h1")).toEqual(["Recovery codes"]);
  const codes = readHtml(text).texts("[data-secret]")[0]?.split(" ") ?? [];
  expect(codes).toHaveLength(10);
  return codes;
}

/** Fills the form in with the code that the app shows now. */
function setUp(app: TestApp, session: string, page: Answer, more: object = {}) {
  const secret = secretOn(page);
  const code = codeAt(secret, app.clock.now());
  const [next = ""] = typedIn(page.text, "next");
  const form = { secret, next, code, password: PASSWORD, ...more };
  return app.call(SECOND_FACTOR, { session, form, headers: HTML });
}

const stateOn = ({ text }: Answer) => readHtml(text).texts("#account-second-factor")[0] ?? "";

describe("setting up a second factor", () => {
  test("shows the secret as a picture and as text, in a page without inline styles that nothing stores", async () => {
    await using at = await withAda();
    const page = await at.app.call(SECOND_FACTOR, { session: at.session });
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const secret = secretOn(page);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(typedIn(page.text, "secret")).toEqual([secret]);
    const html = readHtml(page.text);
    expect(html.attributes("svg.qr", "aria-label")).toEqual(["QR code of the secret"]);
    expect(html.attributes("svg.qr path", "d")[1]).toMatch(/^(M\d+ \d+h\d+v1h-\d+z){150,}$/);
    expect(html.attributes("[style]", "style")).toEqual([]);
    expect(page.text).not.toMatch(/<svg[^>]*qr[^]*<script/);
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe-inline");
    expect(listFactors(at.app.ctx.db, {})).toEqual([]);
    // Each page has a secret of its own.
    const again = await at.app.call(SECOND_FACTOR, { session: at.session });
    expect(secretOn(again)).not.toBe(secret);
  });

  test("turns it on with one right code, shows ten recovery codes once, and ends other sessions", async () => {
    await using site = await createAccountMailSite();
    const { app, session } = site;
    const other = await signIn(app, ADA);
    const page = await app.call(SECOND_FACTOR, { session });
    const done = await setUp(app, session, page);
    expect([done.status, done.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const codes = recoveryCodesOn(done);
    for (const code of codes) expect(code).toMatch(/^[A-Z2-7]{4}(-[A-Z2-7]{4}){3}$/);
    const hashes = codes.map((code) => sha256(code.replaceAll("-", "")).toString("hex"));
    const stored = listRecoveryCodes(app.ctx.db, {}).map(({ hash }) => hash.toString("hex"));
    expect(stored.sort()).toEqual(hashes.sort());
    expect(readHtml(done.text).attributes("main .actions a.primary", "href")).toEqual([ACCOUNT]);

    expect(await isSignedIn(app, session)).toBe(true);
    expect(await isSignedIn(app, other)).toBe(false);
    expect(app.audit().at(-1)).toMatchObject({
      action: "user.second_factor_on",
      summary: "Turned on the second factor of “ada”",
    });
    expect(site.mails("second_factor").map(({ params }) => params)).toEqual([
      { change: "on", at: app.clock.now() },
    ]);
    const account = await app.call(ACCOUNT, { session });
    expect(stateOn(account)).toContain("10 of 10 recovery codes are left.");
    expect(account.text).not.toContain(codes[0] ?? "");
    const again = await app.call(SECOND_FACTOR, { session });
    expect([again.status, again.headers.get("location")]).toEqual([303, ACCOUNT]);

    await app.clock.advance(30_000);
    const cookie = await passwordStep(app, ADA);
    const code = codeAt(secretOn(page), app.clock.now());
    expect((await sendCode(app, cookie, { code })).status).toBe(303);
  });

  for (const { what, more, errors } of [
    {
      what: "a wrong code",
      more: (secret: string, now: number) => ({ code: wrongCode(secret, now) }),
      errors: {
        code: "Code is wrong. Type the one that the app shows now, and check the clock of its device.",
      },
    },
    {
      what: "no code",
      more: () => ({ code: "" }),
      errors: { code: "Code must be the six digits of the app." },
    },
    {
      what: "a recovery code",
      more: () => ({ code: "ABCD-EFGH-IJKL-MNOP" }),
      errors: { code: "Code must be the six digits of the app." },
    },
    {
      what: "a wrong password",
      more: () => ({ password: "wrong horse battery" }),
      errors: { password: "Current password is wrong." },
    },
  ]) {
    test(`with ${what} changes nothing, and shows the same secret again`, async () => {
      await using at = await withAda();
      const { app, session } = at;
      const page = await app.call(SECOND_FACTOR, { session });
      const secret = secretOn(page);
      const before = app.audit();
      const answer = await setUp(app, session, page, more(secret, app.clock.now()));
      expect([answer.status, fieldErrorsOn(answer.text)]).toEqual([422, errors]);
      expect([secretOn(answer), ...typedIn(answer.text, "code")]).toEqual([secret, ""]);
      expect(listFactors(app.ctx.db, {})).toEqual([]);
      expect(app.audit()).toEqual(before);
      expect((await setUp(app, session, answer)).status).toBe(200);
    });
  }

  test("with a secret of another shape starts again", async () => {
    await using at = await withAda();
    const { app, session } = at;
    const page = await app.call(SECOND_FACTOR, { session });
    for (const secret of ["", "A".repeat(31), "a".repeat(32)]) {
      const answer = await setUp(app, session, page, { secret });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, SECOND_FACTOR]);
    }
    expect(listFactors(app.ctx.db, {})).toEqual([]);
  });

  test("by two forms at once turns it on once", async () => {
    await using at = await withAda();
    const { app, session } = at;
    const pages = [
      await app.call(SECOND_FACTOR, { session }),
      await app.call(SECOND_FACTOR, { session }),
    ];
    const answers = await Promise.all(pages.map((page) => setUp(app, session, page)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(listFactors(app.ctx.db, {})).toHaveLength(1);
    expect(listRecoveryCodes(app.ctx.db, {})).toHaveLength(10);
  });

  test("is not offered to a user without a password", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    expect(stateOn(await app.call(ACCOUNT, { session }))).toContain(
      "A second factor is only for sign-ins with a password. You sign in without one.",
    );
    const answer = await app.call(SECOND_FACTOR, { session });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, ACCOUNT]);
  });
});

describe("the second factor of the account", () => {
  /** Ada, signed in, with a second factor. */
  async function withFactor() {
    const at = await withAda();
    const ada = await enrol(at.app, at.id);
    return { ...at, ada, session: await signInByCode(at.app, ADA, ada) };
  }

  test("gets ten new recovery codes with password and code, and the earlier ones work no longer", async () => {
    await using at = await withFactor();
    const { app, session, ada } = at;
    const page = await app.call(CODES, { session });
    expect([page.status, readHtml(page.text).texts("h1")]).toEqual([
      200,
      ["Create recovery codes"],
    ]);
    const form = { code: await ada.nextCode(), password: PASSWORD };
    const codes = recoveryCodesOn(await app.call(CODES, { session, form }));
    expect(actionsOf(app).at(-1)).toBe("user.recovery_codes");
    expect(listRecoveryCodes(app.ctx.db, {})).toHaveLength(10);
    const cookie = await passwordStep(app, ADA);
    const [old = ""] = ada.recoveryCodes;
    expect((await sendCode(app, cookie, { recovery_code: old })).status).toBe(422);
    expect((await sendCode(app, cookie, { recovery_code: codes[0] ?? "" })).status).toBe(303);
  });

  test("is turned off with password and code, and the password alone signs in then", async () => {
    await using at = await withFactor();
    const { app, session, ada } = at;
    expect((await app.call(OFF, { session })).status).toBe(200);
    const form = { code: await ada.nextCode(), password: PASSWORD };
    const answer = await app.call(OFF, { session, form });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, ACCOUNT]);
    expect(actionsOf(app).at(-1)).toBe("user.second_factor_off");
    expect([listFactors(app.ctx.db, {}), listRecoveryCodes(app.ctx.db, {})]).toEqual([[], []]);
    expect(await isSignedIn(app, session)).toBe(true);
    expect(await isSignedIn(app, await signIn(app, ADA))).toBe(true);
    // Nothing is left to turn off.
    for (const options of [{ session }, { session, form }]) {
      const again = await app.call(OFF, options);
      expect([again.status, again.headers.get("location")]).toEqual([303, ACCOUNT]);
    }
  });

  test("is turned off with a recovery code too", async () => {
    await using at = await withFactor();
    const { app, session, ada } = at;
    const form = { code: ada.recoveryCodes[3] ?? "", password: PASSWORD };
    expect((await app.call(OFF, { session, form })).status).toBe(303);
    expect(listFactors(app.ctx.db, {})).toEqual([]);
  });

  for (const path of [CODES, OFF]) {
    test(`stays as it is without the right password and code at ${path}`, async () => {
      await using at = await withFactor();
      const { app, session, ada } = at;
      const stored = listRecoveryCodes(app.ctx.db, {});
      const code = await ada.nextCode();
      for (const [form, errors] of [
        [{ code, password: "wrong" }, { password: "Current password is wrong." }],
        [
          { code: ada.wrongCode(), password: PASSWORD },
          { code: "The code is wrong. Type the one that the app shows now." },
        ],
        [
          { code: "", password: PASSWORD },
          {
            code: "Type the six digits of the app, or the 16 characters of a recovery code.",
          },
        ],
      ] as const) {
        const answer = await app.call(path, { session, form });
        expect([answer.status, fieldErrorsOn(answer.text)]).toEqual([422, errors]);
      }
      expect(listRecoveryCodes(app.ctx.db, {})).toEqual(stored);
      // The right code was not used up by a wrong password.
      expect(
        (await app.call(path, { session, form: { code, password: PASSWORD } })).status,
      ).toBeLessThan(400);
    });
  }

  test("counts wrong codes of a session like those of a sign-in", async () => {
    await using at = await withFactor();
    const { app, session, ada } = at;
    const form = { code: ada.wrongCode(), password: PASSWORD };
    for (let i = 0; i < 10; i++) {
      await app.call(OFF, { session, form, from: `198.51.100.${i}` });
    }
    expect(actionsOf(app).at(-1)).toBe("user.codes_refused");
    const right = { code: await ada.nextCode(), password: PASSWORD };
    const answer = await app.call(OFF, { session, form: right });
    expect([answer.status, fieldErrorsOn(answer.text)]).toEqual([
      422,
      {
        code: "Too many wrong codes. Codes are refused for 15 minutes; recovery codes still work.",
      },
    ]);
    expect(listFactors(app.ctx.db, {})).toHaveLength(1);
  });
});

describe("a role that needs a second factor", () => {
  const env = { ALLCLEAR_SECOND_FACTOR: "admin" };

  test("leaves a session that can only set it up: every other screen and form is refused", async () => {
    await using app = await createTestApp({
      dashboard: true,
      env: { ...env, ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" },
    });
    await app.page({ slug: "secret", visibility: "private" });
    const owner = await app.signedIn("owner");
    const audit = app.audit();
    const session = routesOf(app);
    const open = session.filter(({ isOpenToSetUp }) => isOpenToSetUp);
    expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET ${SECOND_FACTOR}`,
      `POST ${SECOND_FACTOR}`,
    ]);
    for (const { method, path } of session.filter(({ isOpenToSetUp }) => !isOpenToSetUp)) {
      const options = method === "POST" ? { form: {} } : {};
      const answer = await app.call(path.replaceAll(/:\w+/g, "x"), { session: owner, ...options });
      expectProblem(answer, "second_factor_required");
    }
    expect((await app.call("/status/secret", { session: owner })).status).toBe(404);
    expect(app.audit()).toEqual(audit);
    expect((await app.call(SECOND_FACTOR, { session: owner })).status).toBe(200);
  });

  test("leads a browser to the set-up and from there to the screen that it asked for", async () => {
    await using app = await createTestApp({ env });
    await userWithPassword(app, ADA);
    const first = await signIn(app, ADA);
    const asked = await app.call("/admin/incidents", { session: first, headers: HTML });
    const path = `${SECOND_FACTOR}?next=${encodeURIComponent("/admin/incidents")}`;
    expect([asked.status, asked.headers.get("location")]).toEqual([303, path]);
    // A form is refused by a page that leads there too.
    const form = { name: "Ada" };
    const refused = await app.call(`${ACCOUNT}/name`, { session: first, form, headers: HTML });
    expect(refused.status).toBe(403);
    expect(readHtml(refused.text).attributes("a.primary", "href")).toEqual([SECOND_FACTOR]);

    const page = await app.call(path, { session: first, headers: HTML });
    expect(readHtml(page.text).texts("nav")).toEqual([]);
    expect(readHtml(page.text).attributes("form", "action")).toContain("/admin/sign-out");
    // The password was typed a moment ago.
    expect(typedIn(page.text, "password")).toEqual([]);
    const done = await setUp(app, first, page, { password: "" });
    recoveryCodesOn(done);
    expect(readHtml(done.text).attributes(".actions a.primary", "href")).toEqual([
      "/admin/incidents",
    ]);
    const second = sessionIn(done);
    expect(second).not.toBe(first);
    expect(await isSignedIn(app, second)).toBe(true);
    expectProblem(await app.call("/admin", { session: first }), "sign_in_required");
  });

  test("never leads to another site after the set-up", async () => {
    await using app = await createTestApp({ env });
    await userWithPassword(app, ADA);
    const session = await signIn(app, ADA);
    const page = await app.call(`${SECOND_FACTOR}?next=//evil.test`, { session });
    expect(typedIn(page.text, "next")).toEqual(["/admin"]);
    const done = await setUp(app, session, page, { next: "https://evil.test" });
    expect(readHtml(done.text).attributes(".actions a.primary", "href")).toEqual(["/admin"]);
  });

  test("asks for the password again ten minutes after the sign-in", async () => {
    await using app = await createTestApp({ env });
    await userWithPassword(app, ADA);
    const session = await signIn(app, ADA);
    await app.clock.advance(10 * MINUTE_MS);
    const page = await app.call(SECOND_FACTOR, { session });
    expect(typedIn(page.text, "password")).toEqual([""]);
    const answer = await setUp(app, session, page, { password: "" });
    expect([answer.status, fieldErrorsOn(answer.text)]).toEqual([
      422,
      { password: "Current password is wrong." },
    ]);
    expect((await setUp(app, session, page)).status).toBe(200);
  });

  test("ends a session that another person began with the password, once it is set up", async () => {
    await using app = await createTestApp({ env });
    await userWithPassword(app, ADA);
    const [own, stolen] = [await signIn(app, ADA), await signIn(app, ADA)];
    await setUp(app, own, await app.call(SECOND_FACTOR, { session: own }));
    expectProblem(await app.call("/admin", { session: stolen }), "sign_in_required");
    expectProblem(await app.call(SECOND_FACTOR, { session: stolen }), "sign_in_required");
  });

  test("lets such a session sign out", async () => {
    await using app = await createTestApp({ env });
    await userWithPassword(app, ADA);
    const session = await signIn(app, ADA);
    expect((await app.call(SECOND_FACTOR, { session })).status).toBe(200);
    await app.call("/admin/sign-out", { session, form: {} });
    expectProblem(await app.call(SECOND_FACTOR, { session }), "sign_in_required");
  });

  for (const from of ["none", ...ROLES] as const) {
    test(`${from}: it is needed from this role up, at once after a change of the role`, async () => {
      await using app = await createTestApp({ env: { ALLCLEAR_SECOND_FACTOR: from } });
      await userWithPassword(app, ADA);
      for (const role of ROLES) {
        const session = await app.signedIn(role);
        const isNeeded = from !== "none" && ROLES.indexOf(role) <= ROLES.indexOf(from);
        expect((await app.call("/admin", { session })).status).toBe(isNeeded ? 403 : 200);
      }
      await userWithPassword(app, GRACE, "viewer");
      const session = await signIn(app, GRACE);
      expect((await app.call("/admin", { session })).status).toBe(from === "viewer" ? 403 : 200);
      const { id = "" } = findUserByEmail(app.ctx.db, GRACE) ?? {};
      await app.ctx.db.write((tx) => setRole(app.ctx, tx, id, "owner", CLI_ACTOR));
      expect((await app.call("/admin", { session })).status).toBe(from === "none" ? 200 : 403);
    });
  }

  test("asks again after it was turned off", async () => {
    await using app = await createTestApp({ env });
    const { id } = await userWithPassword(app, ADA);
    const ada = await enrol(app, id);
    const session = await signInByCode(app, ADA, ada);
    const form = { code: await ada.nextCode(), password: PASSWORD };
    await app.call(OFF, { session, form });
    expectProblem(await app.call("/admin", { session }), "second_factor_required");
    expect((await app.call(SECOND_FACTOR, { session })).status).toBe(200);
  });
});

describe("the second factor of another user", () => {
  const resetPath = (id: string) => `${USERS}/${id}/reset-second-factor`;

  test("is seen and reset by an owner, which ends all sessions of the user and is mailed", async () => {
    await using site = await createAccountMailSite();
    const { app, session, grace } = site;
    const before = await signIn(app, "grace@example.com");
    const authenticator = await enrol(app, grace.id);
    await passwordStep(app, "grace@example.com");
    expect(await isSignedIn(app, before)).toBe(false);
    const list = readHtml((await app.call(USERS, { session })).text).texts("tbody tr");
    expect(list.map((row) => row.includes("Second factor"))).toEqual(
      list.map((row) => row.includes("grace")),
    );
    const detail = await app.call(`${USERS}/${grace.id}`, { session });
    expect(readHtml(detail.text).texts("#user-second-factor")[0]).toContain(
      "10 recovery codes left",
    );
    const asks = await app.call(resetPath(grace.id), { session });
    expect(readHtml(asks.text).texts("h1")).toEqual(["Reset the second factor of “grace”?"]);
    const answer = await app.call(resetPath(grace.id), { session, form: {} });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `${USERS}/${grace.id}`]);
    expect(app.audit().at(-1)).toMatchObject({
      action: "user.second_factor_reset",
      summary: "Reset the second factor of “grace”",
    });
    expect(site.mails("second_factor").at(-1)).toMatchObject({
      recipient: "grace@example.com",
      params: { change: "reset", by: "owner" },
    });
    expect(listRecoveryCodes(app.ctx.db, {})).toEqual([]);
    expect(await isSignedIn(app, await signIn(app, "grace@example.com"))).toBe(true);
    expect(authenticator.recoveryCodes).toHaveLength(10);
    // Sent again, it changes nothing.
    const audit = app.audit();
    expect((await app.call(resetPath(grace.id), { session, form: {} })).status).toBe(303);
    expect(app.audit()).toEqual(audit);
  });

  test("is never reset by its own user, whose screen offers no reset", async () => {
    await using at = await withAda();
    const { app, id } = at;
    const ada = await enrol(app, id);
    const session = await signInByCode(app, ADA, ada);
    const detail = await app.call(`${USERS}/${id}`, { session });
    expect(readHtml(detail.text).texts("#user-second-factor")).toEqual([]);
    const answer = await app.call(resetPath(id), { session, form: {} });
    expect(answer.status).toBe(409);
    expect(listFactors(app.ctx.db, {})).toHaveLength(1);
  });

  test("is reset by no admin", async () => {
    await using at = await withAda();
    const { app, id } = at;
    await enrol(app, id);
    const session = await app.signedIn("admin");
    expectProblem(await app.call(resetPath(id), { session }), "insufficient_role");
    expectProblem(await app.call(resetPath(id), { session, form: {} }), "insufficient_role");
    expect(listFactors(app.ctx.db, {})).toHaveLength(1);
  });

  test("lets the user set up another one after a reset", async () => {
    await using at = await withAda();
    const { app, session } = at;
    const { id } = await userWithPassword(app, GRACE, "editor");
    await enrol(app, id);
    await app.call(resetPath(id), { session, form: {} });
    const grace = await enrol(app, id);
    const cookie = await passwordStep(app, GRACE);
    expect((await sendCode(app, cookie, { code: await grace.nextCode() })).status).toBe(303);
    expect((await trySignIn(app, GRACE, "wrong")).status).toBe(422);
  });
});

/** Returns the routes that need a session. */
function routesOf(app: TestApp) {
  return app.app.routes.routes.flatMap(({ method, path, operation: { access } }) =>
    access.kind === "session"
      ? [{ method, path, isOpenToSetUp: access.isOpenToSetUp === true }]
      : [],
  );
}
