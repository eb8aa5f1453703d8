import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { sha256 } from "../../../../src/base/hash";
import { HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import { selectMany } from "../../../../src/db/statements";
import { sessions, signInSteps } from "../../../../src/db/tables/users";
import { exportFile, writeApplyFile } from "../../../../src/features/apply/apply";
import { resetSecondFactor } from "../../../../src/features/users/recovery";
import { changePassword } from "../../../../src/features/users/sign-in";
import { disableUser, getUser, setRole } from "../../../../src/features/users/users";
import { createAccountMailSite, GRACE, joinPath, written } from "../../../support/account-mail";
import { createTestApp, expectProblem, type TestApp } from "../../../support/app";
import {
  actionsOf,
  isSignedIn,
  makeLink,
  PASSWORD,
  sessionIn,
  signIn,
  trySignIn,
  userWithPassword,
} from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";
import { formOf } from "../../../support/monitor-dashboard";
import { sendWithoutSession, signInOn, wayBackOn } from "../../../support/refused-form";
import {
  type Authenticator,
  CODE,
  codeAt,
  enrol,
  listFactors,
  listRecoveryCodes,
  passwordStep,
  PERIOD_MS,
  sendCode,
  stepIn,
} from "../../../support/second-factors";

const ADA = "ada@example.com";
const NEW_PASSWORD = "another horse battery";

const listSessions = selectMany((orm, _$: Record<string, never>) => orm.select().from(sessions));
const listSteps = selectMany((orm, _$: Record<string, never>) => orm.select().from(signInSteps));

/** An app with Ada, who has a second factor. */
async function withAda(options: Parameters<typeof createTestApp>[0] = {}) {
  const app = await createTestApp(options);
  const { id } = await userWithPassword(app, ADA);
  const ada = await enrol(app, id);
  return { app, id, ada, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

let clients = 0;
/** Returns an address from which no other sign-in of a test comes. */
const anotherClient = () => ({ from: `198.51.100.${(clients += 1)}` });

const errorOn = (answer: { text: string }) => readHtml(answer.text).texts('[role="alert"]')[0];

describe("signing in with a code", () => {
  test("takes the password and the code, and only then starts a session", async () => {
    await using at = await withAda();
    const { app, ada, id } = at;
    const answer = await trySignIn(app, ADA);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, CODE]);
    expect(answer.headers.get("set-cookie")).toMatch(
      /^__Host-allclear_step=[0-9A-Za-z]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    const cookie = stepIn(answer);
    const page = await app.call(CODE, { headers: { cookie } });
    expect([page.status, readHtml(page.text).texts("h1")]).toEqual([200, ["Enter your code"]]);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(listSessions(app.ctx.db, {})).toEqual([]);
    expect(getUser(app.ctx.db, id).last_login_at).toBeNull();
    expect(actionsOf(app)).not.toContain("user.sign_in");

    const done = await sendCode(app, cookie, { code: await ada.nextCode() });
    expect([done.status, done.headers.get("location")]).toEqual([303, "/admin"]);
    expect(await isSignedIn(app, sessionIn(done))).toBe(true);
    expect(app.audit().at(-1)).toMatchObject({
      action: "user.sign_in",
      actorKind: "user",
      summary: "“ada” signed in with a code",
    });
    expect(getUser(app.ctx.db, id).last_login_at).not.toBeNull();
  });

  test("has a cookie of its own name on plain HTTP", async () => {
    await using at = await withAda({ env: { ALLCLEAR_BASE_URL: "http://nas:8080" } });
    const { app, ada } = at;
    const answer = await trySignIn(app, ADA);
    expect(answer.headers.get("set-cookie")).toMatch(
      /^allclear_step=[0-9A-Za-z]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const done = await sendCode(app, stepIn(answer), { code: await ada.nextCode() });
    expect(done.status).toBe(303);
    expect(await isSignedIn(app, sessionIn(done))).toBe(true);
  });

  test("is not asked for a code without a second factor", async () => {
    await using at = await withAda();
    await userWithPassword(at.app, GRACE, "editor");
    expect(await isSignedIn(at.app, await signIn(at.app, GRACE))).toBe(true);
  });

  test.each([
    ["the period before", -1, 303],
    ["the next period", 1, 303],
    ["two periods ago", -2, 422],
    ["the period after the next", 2, 422],
  ])("takes a code of %s: %d → %d", async (_name, periods, status) => {
    await using at = await withAda();
    const { app, ada } = at;
    await app.clock.advance(HOUR_MS);
    const cookie = await passwordStep(app, ADA);
    const code = codeAt(ada.secret, app.clock.now() + periods * PERIOD_MS);
    expect((await sendCode(app, cookie, { code })).status).toBe(status);
  });

  test("takes a code with blanks", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const code = await ada.nextCode();
    const cookie = await passwordStep(app, ADA);
    const typed = ` ${code.slice(0, 3)} ${code.slice(3)} `;
    expect((await sendCode(app, cookie, { code: typed })).status).toBe(303);
  });

  test("leads to the screen that was asked for, and never to another site", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const answer = await trySignIn(app, ADA, undefined, { next: "/admin/incidents?a=b" });
    const location = answer.headers.get("location") ?? "";
    expect(location).toBe(`${CODE}?next=${encodeURIComponent("/admin/incidents?a=b")}`);
    const headers = { cookie: stepIn(answer) };
    const [next = ""] = typedIn((await app.call(location, { headers })).text, "next");
    const done = await sendCode(app, headers.cookie, { code: await ada.nextCode(), next });
    expect(done.headers.get("location")).toBe("/admin/incidents?a=b");
    for (const evil of ["//evil.test", "https://evil.test/admin", "/admin/../../x", "/status/a"]) {
      const cookie = await passwordStep(app, ADA, { next: evil, ...anotherClient() });
      const shown = await app.call(`${CODE}?next=${encodeURIComponent(evil)}`, {
        headers: { cookie },
      });
      expect(typedIn(shown.text, "next")).toEqual(["/admin"]);
      const sent = await sendCode(app, cookie, { code: await ada.nextCode(), next: evil });
      expect([sent.status, sent.headers.get("location")]).toEqual([303, "/admin"]);
    }
  });

  test("keeps the form whose session had ended", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    await app.page();
    const typed = { name: "Checkout fails", body: "Cards are refused.", page: "acme" };
    const refused = await sendWithoutSession(app, "/admin/incidents/new", typed);
    const asked = await signInOn(app, refused, ADA);
    expect([asked.status, readHtml(asked.text).texts("h1")]).toEqual([200, ["Enter your code"]]);
    const cookie = stepIn(asked);
    const wrong = await sendCode(app, cookie, { ...formOf(asked.text), code: ada.wrongCode() });
    expect(errorOn(wrong)).toContain("Your form is still kept.");
    const code = await ada.nextCode();
    const back = wayBackOn(await sendCode(app, cookie, { ...formOf(wrong.text), code }));
    expect(back.action).toBe("/admin/incidents/new");
    expect(back.fields).toMatchObject({
      name: [typed.name],
      body: [typed.body],
      page: [typed.page],
    });
    expect(await isSignedIn(app, back.session)).toBe(true);
  });
});

describe("a code", () => {
  test("works once: the same code of a second sign-in is refused and starts nothing", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const code = await ada.nextCode();
    const [first, second] = [await passwordStep(app, ADA), await passwordStep(app, ADA)];
    expect((await sendCode(app, first, { code })).status).toBe(303);
    const replayed = await sendCode(app, second, { code });
    expect([replayed.status, errorOn(replayed)]).toEqual([
      422,
      "This code was used before. Wait for the next one.",
    ]);
    expect(replayed.headers.get("set-cookie")).toBeNull();
    expect(listSessions(app.ctx.db, {})).toHaveLength(1);
    // A code that was used is no guess.
    expect(listFactors(app.ctx.db, {})[0]?.wrongCodes).toEqual([]);
    expect((await sendCode(app, second, { code: await ada.nextCode() })).status).toBe(303);
  });

  test("of an earlier period is refused after a later one", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const earlier = await ada.nextCode();
    const later = await ada.nextCode();
    const [first, second] = [await passwordStep(app, ADA), await passwordStep(app, ADA)];
    expect((await sendCode(app, first, { code: later })).status).toBe(303);
    expect((await sendCode(app, second, { code: earlier })).status).toBe(422);
  });

  test("that turned the second factor on does not sign in", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const cookie = await passwordStep(app, ADA);
    expect((await sendCode(app, cookie, { code: ada.code() })).status).toBe(422);
    expect(listSessions(app.ctx.db, {})).toEqual([]);
  });

  test("sent by twenty sign-ins at once starts one session", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const code = await ada.nextCode();
    const cookies: string[] = [];
    for (let i = 0; i < 20; i++) {
      // One at a time, as an address has one verification that waits.
      cookies.push(await passwordStep(app, ADA, anotherClient()));
    }
    const answers = await Promise.all(cookies.map((cookie) => sendCode(app, cookie, { code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(19).fill(422)]);
    expect(answers.filter(({ headers }) => headers.has("set-cookie"))).toHaveLength(1);
    expect(listSessions(app.ctx.db, {})).toHaveLength(1);
    expect(actionsOf(app).filter((action) => action === "user.sign_in")).toHaveLength(1);
  });

  test("sent twenty times at once by one sign-in starts one session", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const code = await ada.nextCode();
    const cookie = await passwordStep(app, ADA);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => sendCode(app, cookie, { code })),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(listSessions(app.ctx.db, {})).toHaveLength(1);
    expect(listSteps(app.ctx.db, {})).toEqual([]);
  });

  test("of another user does not sign in", async () => {
    await using at = await withAda();
    const { app } = at;
    const grace = await enrol(app, (await userWithPassword(app, GRACE, "editor")).id);
    const cookie = await passwordStep(app, ADA);
    expect((await sendCode(app, cookie, { code: await grace.nextCode() })).status).toBe(422);
    const [recovery_code = ""] = grace.recoveryCodes;
    expect((await sendCode(app, cookie, { recovery_code })).status).toBe(422);
    expect(listSessions(app.ctx.db, {})).toEqual([]);
    expect(listRecoveryCodes(app.ctx.db, {})).toHaveLength(20);
  });

  test.each(["", "12345", "abcdef", "1234567"])(
    "of another shape is an error that costs no try: “%s”",
    async (code) => {
      await using at = await withAda();
      const { app, ada } = at;
      const cookie = await passwordStep(app, ADA);
      for (let i = 0; i < 6; i++) {
        const answer = await sendCode(app, cookie, { code });
        expect([answer.status, errorOn(answer)]).toEqual([
          422,
          "Type the six digits of the app, or the 16 characters of a recovery code.",
        ]);
        expect(typedIn(answer.text, "code")).toEqual([""]);
      }
      expect((await sendCode(app, cookie, { code: await ada.nextCode() })).status).toBe(303);
    },
  );
});

describe("a step", () => {
  test("ends with the fifth wrong code, so that the right one comes too late", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const cookie = await passwordStep(app, ADA);
    for (let tries = 1; tries < 5; tries++) {
      const answer = await sendCode(app, cookie, { code: ada.wrongCode() });
      expect([answer.status, errorOn(answer)]).toEqual([
        422,
        "The code is wrong. Type the one that the app shows now.",
      ]);
    }
    const fifth = await sendCode(app, cookie, { code: ada.wrongCode() });
    expect([fifth.status, readHtml(fifth.text).texts("h1"), errorOn(fifth)]).toEqual([
      422,
      ["Sign in"],
      "Five codes were wrong. Sign in again.",
    ]);
    expect(listSteps(app.ctx.db, {})).toEqual([]);
    const late = await sendCode(app, cookie, { code: await ada.nextCode() });
    expect([late.status, errorOn(late)]).toEqual([422, "This sign-in has ended. Sign in again."]);
    expect(listSessions(app.ctx.db, {})).toEqual([]);
  });

  test("counts wrong recovery codes and used codes as tries too", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const cookie = await passwordStep(app, ADA);
    for (let tries = 0; tries < 3; tries++) {
      await sendCode(app, cookie, { recovery_code: "ABCD-EFGH-IJKL-MNOP" });
    }
    await sendCode(app, cookie, { code: ada.code() });
    const fifth = await sendCode(app, cookie, { code: ada.code() });
    expect(errorOn(fifth)).toBe("Five codes were wrong. Sign in again.");
    expect(listFactors(app.ctx.db, {})[0]?.wrongCodes).toEqual([]);
  });

  test("lasts ten minutes", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const [kept, late] = [await passwordStep(app, ADA), await passwordStep(app, ADA)];
    await app.clock.advance(10 * MINUTE_MS - 1);
    expect((await sendCode(app, kept, { code: ada.code() })).status).toBe(303);
    await app.clock.advance(1);
    const answer = await sendCode(app, late, { code: await ada.nextCode() });
    expect([answer.status, errorOn(answer)]).toEqual([
      422,
      "This sign-in has ended. Sign in again.",
    ]);
    const page = await app.call(CODE, { headers: { cookie: late } });
    expect([page.status, page.headers.get("location")]).toEqual([
      303,
      `/admin/sign-in?next=${encodeURIComponent("/admin")}`,
    ]);
  });

  const ENDS: Record<string, (at: { app: TestApp; id: string }) => Promise<unknown>> = {
    "a changed password": ({ app: { ctx }, id }) =>
      ctx.db.write((tx) =>
        changePassword(ctx, tx, { userId: id, passwordHash: "another" }, CLI_ACTOR),
      ),
    "a disabled user": async ({ app, id }) => {
      await userWithPassword(app, GRACE, "owner");
      await app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    },
    "another role": async ({ app, id }) => {
      await userWithPassword(app, GRACE, "owner");
      await app.ctx.db.write((tx) => setRole(app.ctx, tx, id, "viewer", CLI_ACTOR));
    },
    "a reset of the second factor": ({ app: { ctx }, id }) =>
      ctx.db.write((tx) => resetSecondFactor(ctx, tx, id, CLI_ACTOR)),
  };

  test.each(Object.entries(ENDS))("ends with %s", async (_name, end) => {
    await using at = await withAda();
    const { app, ada } = at;
    const cookie = await passwordStep(app, ADA);
    await end(at);
    const answer = await sendCode(app, cookie, { code: await ada.nextCode() });
    expect([answer.status, errorOn(answer)]).toEqual([
      422,
      "This sign-in has ended. Sign in again.",
    ]);
    expect(listSessions(app.ctx.db, {})).toEqual([]);
  });

  test("opens nothing but the form for the code", async () => {
    await using at = await withAda();
    const { app } = at;
    await app.page({ slug: "secret", visibility: "private" });
    const cookie = await passwordStep(app, ADA);
    const token = cookie.split("=")[1] ?? "";
    for (const headers of [{ cookie }, { cookie: `__Host-allclear=${token}` }]) {
      expectProblem(await app.call("/admin", { headers }), "sign_in_required");
      expect((await app.call("/status/secret", { headers })).status).toBe(404);
    }
    const authorization = `Bearer ${token}`;
    expectProblem(await app.call("/api/v1/key", { headers: { authorization } }), "invalid_key");
  });

  test("of another browser cannot be continued without its cookie", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    await passwordStep(app, ADA);
    const code = await ada.nextCode();
    for (const cookie of ["", "__Host-allclear_step=", `__Host-allclear_step=${"x".repeat(43)}`]) {
      const answer = await sendCode(app, cookie, { code });
      expect([answer.status, errorOn(answer)]).toEqual([
        422,
        "This sign-in has ended. Sign in again.",
      ]);
    }
    expect(listSessions(app.ctx.db, {})).toEqual([]);
  });

  test("whose form is sent twice leads on, once the first has started the session", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const step = await passwordStep(app, ADA, { next: "/admin/incidents" });
    const form = { code: await ada.nextCode(), next: "/admin/incidents" };
    const session = sessionIn(await sendCode(app, step, form));
    const again = await sendCode(app, `${step}; __Host-allclear=${session}`, form);
    expect([again.status, again.headers.get("location")]).toEqual([303, "/admin/incidents"]);
    expect(again.headers.get("set-cookie")).toBeNull();
    expect(listSessions(app.ctx.db, {})).toHaveLength(1);
  });

  test("needs a form of this site", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const cookie = await passwordStep(app, ADA);
    const code = await ada.nextCode();
    const answer = await sendCode(
      app,
      cookie,
      { code },
      {
        headers: { cookie, origin: "https://evil.test" },
      },
    );
    expectProblem(answer, "cross_site_request");
    expect(listSessions(app.ctx.db, {})).toEqual([]);
  });

  test("of which a user has more than fifty ends with the oldest", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const cookies: string[] = [];
    for (let i = 0; i < 51; i++) {
      await app.clock.advance(1);
      cookies.push(await passwordStep(app, ADA, anotherClient()));
    }
    expect(listSteps(app.ctx.db, {})).toHaveLength(50);
    const code = await ada.nextCode();
    expect((await sendCode(app, cookies[0] ?? "", { code })).status).toBe(422);
    expect((await sendCode(app, cookies[1] ?? "", { code })).status).toBe(303);
  });

  test("is stored by its hash alone", async () => {
    await using at = await withAda();
    const { app } = at;
    const cookie = await passwordStep(app, ADA);
    const token = cookie.split("=")[1] ?? "";
    expect(listSteps(app.ctx.db, {}).map(({ hash }) => hash)).toEqual([sha256(token)]);
  });
});

describe("the session after a code", () => {
  test("has a token that no cookie of the browser had before", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const planted = "p".repeat(43);
    const before = await app.signedIn("viewer");
    const step = await passwordStep(app, ADA, { session: before });
    // The earlier session of the browser goes on until the code is right.
    expect(await isSignedIn(app, before)).toBe(true);
    const cookie = `__Host-allclear=${planted}; __Host-allclear=${before}; ${step}`;
    const done = await sendCode(app, cookie, { code: await ada.nextCode() });
    const session = sessionIn(done);
    expect([planted, before, step.split("=")[1]]).not.toContain(session);
    expect(await isSignedIn(app, session)).toBe(true);
    expect(await isSignedIn(app, planted)).toBe(false);
    expect(await isSignedIn(app, before)).toBe(false);
  });

  test("is that of the browser's own step, even if another step cookie was planted", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const eve = "eve@example.com";
    await enrol(app, (await userWithPassword(app, eve, "viewer")).id);
    const planted = await passwordStep(app, eve);
    const own = await passwordStep(app, ADA);
    const code = await ada.nextCode();
    // Ada's code is wrong for Eve: it signs neither in.
    expect((await sendCode(app, `${planted}; ${own}`, { code })).status).toBe(422);
    expect(listSessions(app.ctx.db, {})).toEqual([]);
    expect((await sendCode(app, own, { code })).status).toBe(303);
  });

  test("is found by the form for the code, which leads on", async () => {
    await using at = await withAda();
    const { app } = at;
    const session = await app.signedIn("viewer");
    const answer = await app.call(`${CODE}?next=%2Fadmin%2Fincidents`, { session });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin/incidents"]);
  });
});

describe("wrong codes", () => {
  /** Sends wrong codes, five for each sign-in, and returns the last answer. */
  async function guess(app: TestApp, ada: Authenticator, count: number) {
    let [cookie, last] = ["", await app.call(CODE)];
    for (let i = 0; i < count; i++) {
      if (i % 5 === 0) cookie = await passwordStep(app, ADA, anotherClient());
      last = await sendCode(app, cookie, { code: ada.wrongCode() });
    }
    return last;
  }

  test("refuse codes with the tenth for 15 minutes, the right one too, and the user is mailed", async () => {
    await using site = await createAccountMailSite();
    const { app } = site;
    const ada = await enrol(app, site.owner.id);
    const last = await guess(app, ada, 10);
    const refused =
      "Too many wrong codes. Codes are refused for 15 minutes; recovery codes still work.";
    expect([last.status, errorOn(last)]).toEqual([429, refused]);
    expect(last.headers.get("retry-after")).toBe("900");
    const until = app.clock.now() + 15 * MINUTE_MS;
    expect(app.audit().at(-1)).toMatchObject({ action: "user.codes_refused" });

    const cookie = await passwordStep(app, ADA, anotherClient());
    const right = await sendCode(app, cookie, { code: await ada.nextCode() });
    expect([right.status, right.headers.get("retry-after")]).toEqual([429, "870"]);
    expect(listSessions(app.ctx.db, {})).toEqual([]);

    const mails = site.mails("second_factor");
    expect(mails.at(-1)).toMatchObject({
      recipient: ADA,
      params: { change: "codes_refused", until },
    });
    const { text } = await written(site.compose(mails.at(-1)));
    expect(text).toContain("Codes are refused until 10 Mar 2026");

    await app.clock.advance(until - app.clock.now() - 1);
    const still = await sendCode(app, await passwordStep(app, ADA, anotherClient()), {
      code: ada.code(),
    });
    expect(still.status).toBe(429);
    await app.clock.advance(1);
    const done = await sendCode(app, await passwordStep(app, ADA, anotherClient()), {
      code: ada.code(),
    });
    expect(done.status).toBe(303);
  });

  test("leave recovery codes in force while codes are refused", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    await guess(app, ada, 10);
    const cookie = await passwordStep(app, ADA, anotherClient());
    const [recovery_code = ""] = ada.recoveryCodes;
    expect((await sendCode(app, cookie, { recovery_code })).status).toBe(303);
  });

  test("cost no try of a step while codes are refused, and are not judged", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    await guess(app, ada, 10);
    const before = listFactors(app.ctx.db, {});
    const cookie = await passwordStep(app, ADA, anotherClient());
    for (let i = 0; i < 6; i++) {
      expect((await sendCode(app, cookie, { code: ada.wrongCode() })).status).toBe(429);
    }
    expect(listFactors(app.ctx.db, {})).toEqual(before);
    const [recovery_code = ""] = ada.recoveryCodes;
    expect((await sendCode(app, cookie, { recovery_code })).status).toBe(303);
  });

  test("refuse codes for 30 minutes the second time", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    await guess(app, ada, 10);
    await app.clock.advance(15 * MINUTE_MS);
    const last = await guess(app, ada, 10);
    expect([last.status, last.headers.get("retry-after")]).toEqual([429, "1800"]);
  });

  test("count for an hour, also after a right one", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const signIn = async () => {
      const cookie = await passwordStep(app, ADA, anotherClient());
      expect((await sendCode(app, cookie, { code: await ada.nextCode() })).status).toBe(303);
    };
    await guess(app, ada, 9);
    await signIn();
    expect((await guess(app, ada, 1)).status).toBe(429);

    await app.clock.advance(HOUR_MS);
    expect((await guess(app, ada, 9)).status).toBe(422);
    await signIn();
    await app.clock.advance(HOUR_MS);
    expect((await guess(app, ada, 9)).status).toBe(422);
  });

  test("of one user refuse no code of another", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const grace = await enrol(app, (await userWithPassword(app, GRACE, "editor")).id);
    await guess(app, ada, 10);
    const cookie = await passwordStep(app, GRACE, anotherClient());
    expect((await sendCode(app, cookie, { code: await grace.nextCode() })).status).toBe(303);
  });

  test("without the right password are not counted", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    for (let i = 0; i < 12; i++) {
      await sendCode(app, "", { code: ada.wrongCode() });
    }
    expect(listFactors(app.ctx.db, {})[0]).toMatchObject({ wrongCodes: [], pausedUntil: 0 });
  });
});

describe("a recovery code", () => {
  test("signs in once, however it is typed, and the user is mailed", async () => {
    await using site = await createAccountMailSite();
    const { app } = site;
    const ada = await enrol(app, site.owner.id);
    const [first = "", second = ""] = ada.recoveryCodes;
    const typed = first.toLowerCase().replaceAll(/(.{4})/g, "$1 ");
    const done = await sendCode(app, await passwordStep(app, ADA), { recovery_code: typed });
    expect(done.status).toBe(303);
    expect(await isSignedIn(app, sessionIn(done))).toBe(true);
    expect(app.audit().at(-1)?.summary).toBe(
      "“ada” signed in with a recovery code, 9 recovery codes left",
    );
    expect(site.mails("second_factor").at(-1)?.params).toMatchObject({
      change: "recovery_code_used",
      left: 9,
    });

    const again = await passwordStep(app, ADA);
    const used = await sendCode(app, again, { recovery_code: first });
    expect([used.status, errorOn(used)]).toEqual([
      422,
      "This recovery code is wrong, or was used before.",
    ]);
    expect(typedIn(used.text, "recovery_code")).toEqual([""]);
    // The field for codes takes a recovery code too.
    expect((await sendCode(app, again, { code: second })).status).toBe(303);
    expect(listRecoveryCodes(app.ctx.db, {})).toHaveLength(8);
  });

  test("sent by twenty sign-ins at once starts one session", async () => {
    await using at = await withAda();
    const { app, ada } = at;
    const [recovery_code = ""] = ada.recoveryCodes;
    const cookies: string[] = [];
    for (let i = 0; i < 20; i++) {
      cookies.push(await passwordStep(app, ADA, anotherClient()));
    }
    const answers = await Promise.all(
      cookies.map((cookie) => sendCode(app, cookie, { recovery_code })),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(listSessions(app.ctx.db, {})).toHaveLength(1);
  });
});

describe("a new password", () => {
  test("by a mailed link is followed by a code", async () => {
    await using site = await createAccountMailSite();
    const { app } = site;
    const grace = await enrol(app, site.grace.id);
    await site.forgot(GRACE);
    await site.decide();
    const path = joinPath(await written(site.compose(site.mails("password_reset").at(-1))));
    const chosen = await app.call(path, { form: { name: "", password: NEW_PASSWORD } });
    expect([chosen.status, chosen.headers.get("location")]).toEqual([303, CODE]);
    expect(app.audit().at(-1)).toMatchObject({
      action: "user.accept",
      summary: "“grace” chose a new password by a link",
    });
    const cookie = stepIn(chosen);
    expectProblem(await app.call("/admin", { headers: { cookie } }), "sign_in_required");
    expect((await sendCode(app, cookie, { code: grace.wrongCode() })).status).toBe(422);
    const done = await sendCode(app, cookie, { code: await grace.nextCode() });
    expect(await isSignedIn(app, sessionIn(done))).toBe(true);
  });

  test("by a link of an owner is followed by a code", async () => {
    await using at = await withAda();
    const { app } = at;
    const { id } = await userWithPassword(app, GRACE, "editor");
    const grace = await enrol(app, id);
    const path = await makeLink(app, await app.signedIn("owner"), id);
    const chosen = await app.call(path, { form: { name: "", password: NEW_PASSWORD } });
    expect(chosen.headers.get("location")).toBe(CODE);
    const [recovery_code = ""] = grace.recoveryCodes;
    const done = await sendCode(app, stepIn(chosen), { recovery_code });
    expect(await isSignedIn(app, sessionIn(done))).toBe(true);
    expect((await trySignIn(app, GRACE, PASSWORD)).status).toBe(422);
  });
});

test("no page, log line, audit row or export contains a secret, a code or a recovery code, and neither does the database", async () => {
  await using at = await withAda({ logLevel: "trace" });
  const { app, ada, id } = at;
  const [used = "", kept = ""] = ada.recoveryCodes;
  const texts: string[] = [];
  const send = async (cookie: string, fields: object) => {
    const answer = await sendCode(app, cookie, fields);
    texts.push(answer.text, JSON.stringify([...answer.headers]));
  };
  const wrong = ada.wrongCode();
  const code = await ada.nextCode();
  const cookie = await passwordStep(app, ADA);
  await send(cookie, { code: wrong });
  await send(cookie, { recovery_code: "ABCD-EFGH-IJKL-MNOP" });
  await send(cookie, { code });
  await send(await passwordStep(app, ADA), { recovery_code: used });
  const token = cookie.split("=")[1] ?? "";
  const exported = writeApplyFile(exportFile(app.ctx.db), []);
  const logs = [app.logged, app.audit()].map((rows) => JSON.stringify(rows));
  const said = [...texts, ...logs, exported].join("\n");
  const secrets = [ada.secret, code, used, kept, token];
  for (const secret of secrets) expect(said).not.toContain(secret);
  const [factor] = listFactors(app.ctx.db, {});
  expect(factor?.userId).toBe(id);
  const stored = listRecoveryCodes(app.ctx.db, {}).map(({ hash }) => hash.toString("hex"));
  const hashes = ada.recoveryCodes.slice(1).map((one) => sha256(one).toString("hex"));
  expect(stored.sort()).toEqual(hashes.sort());
  expect(app.logged.map(({ msg }) => msg)).toContain("a code was refused");
});

test("API keys of a user with a second factor need no code", async () => {
  await using at = await withAda();
  const key = await at.app.keyWith("read:status");
  expect((await at.app.call("/api/v1/key", { key })).status).toBe(200);
});
