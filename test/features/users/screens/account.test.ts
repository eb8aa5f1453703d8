import { describe, expect, test } from "bun:test";
import { getUser } from "../../../../src/features/users/users";
import { createTestApp, expectProblem } from "../../../support/app";
import {
  ACCOUNT,
  actionsOf,
  isSignedIn,
  makeKey,
  PASSWORD,
  sessionIn,
  signIn,
  statusWith,
  trySignIn,
  userWithPassword,
} from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const ADA = "ada@example.com";
const GRACE = "grace@example.com";
const NEW_PASSWORD = "another horse battery";
const CHANGE = { current_password: PASSWORD, new_password: NEW_PASSWORD };
const FIREFOX = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko Firefox/140.0" };

/** The ids of the sessions that an account's page offers to end. */
function sessionIds(html: string): string[] {
  return readHtml(html).attributes('button[name="session"]', "value");
}

describe("one's own time zone", () => {
  const PATH = `${ACCOUNT}/time-zone`;

  test("changes the times of all screens, with UTC in the tooltip and the exact time unchanged", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const barOf = async () => {
      const html = readHtml((await app.call(ACCOUNT, { session })).text);
      return [
        ...html.texts(".bar-time b"),
        ...html.attributes(".bar-time time", "title"),
        ...html.attributes(".bar-time time", "datetime"),
      ];
    };
    const iso = "2026-03-10T12:00:00.000Z";
    expect(await barOf()).toEqual(["12:00 UTC", "10 March 2026, 12:00:00 UTC", iso]);
    const answer = await app.call(PATH, { session, form: { time_zone: "Europe/Berlin" } });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, ACCOUNT]);
    expect(await barOf()).toEqual([
      "13:00 CET",
      "10 March 2026, 13:00:00 Europe/Berlin\n10 March 2026, 12:00:00 UTC",
      iso,
    ]);
    expect(actionsOf(app).at(-1)).toBe("user.time_zone");
    // Other users have their own.
    const other = readHtml((await app.call(ACCOUNT, { session: await app.signedIn() })).text);
    expect(other.texts(".bar-time b")).toEqual(["12:00 UTC"]);
  });

  test.each([
    ["New York", "America/New_York"],
    ["Asia/Calcutta", "Asia/Calcutta"],
    ["US/Pacific", "US/Pacific"],
  ])("can be typed as %s", async (typed, zone) => {
    await using app = await createTestApp();
    const session = await app.signedIn("viewer");
    await app.call(PATH, { session, form: { time_zone: typed } });
    expect(typedIn((await app.call(ACCOUNT, { session })).text, "time_zone")).toEqual([zone]);
  });

  test("the overview asks for a time zone until the user saves one, also if that is UTC", async () => {
    await using app = await createTestApp();
    await app.page();
    const hintFor = async (session: string) =>
      readHtml((await app.call("/admin", { session })).text).texts("header.screen-head .muted");
    const hint = "Times are in UTC. Set your time zone in Account.";
    for (const zone of ["UTC", "Europe/Berlin"]) {
      const session = await app.signedIn("viewer");
      expect(await hintFor(session)).toEqual([hint]);
      const save = () => app.call(PATH, { session, form: { time_zone: zone } });
      expect((await save()).status).toBe(303);
      expect(await hintFor(session)).toEqual([]);
      expect(typedIn((await app.call(ACCOUNT, { session })).text, "time_zone")).toEqual([zone]);
      expect(app.audit().at(-1)?.summary).toEndWith(` to ${zone}`);
      const before = app.audit();
      await save();
      expect(app.audit()).toEqual(before);
    }
  });

  test.each(["Mars/Base", ""])(
    "is not changed to “%s”, which is an error of its field",
    async (typed) => {
      await using app = await createTestApp();
      const session = await app.signedIn();
      const before = app.audit();
      const answer = await app.call(PATH, { session, form: { time_zone: typed } });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual({
        time_zone: "Time zone must be a time zone, such as Europe/Berlin.",
      });
      expect(typedIn(answer.text, "time_zone")).toEqual([typed]);
      expect(app.audit()).toEqual(before);
    },
  );

  test("offers all zones in a list that the browser searches", async () => {
    await using app = await createTestApp();
    const { text } = await app.call(ACCOUNT, { session: await app.signedIn() });
    const offered = readHtml(text).attributes("#field-time_zone-list option", "value");
    expect(offered).toEqual(["UTC", ...Intl.supportedValuesOf("timeZone")]);
  });
});

describe("changing one's own password", () => {
  test("changing one's password ends all other sessions and keeps the current one", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const [own, stolen] = [await signIn(app, ADA), await signIn(app, ADA)];
    const answer = await app.call(`${ACCOUNT}/password`, { session: own, form: CHANGE });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, ACCOUNT]);
    expectProblem(await app.call("/admin", { session: stolen }), "sign_in_required");
    const page = await app.call(ACCOUNT, { session: own });
    expect(readHtml(page.text).texts('[role="status"]')).toEqual([
      "Your password was changed. All your other sessions have ended.",
    ]);
    expect(actionsOf(app).at(-1)).toBe("user.password");
    expect((await trySignIn(app, ADA, PASSWORD)).status).toBe(422);
    expect((await trySignIn(app, ADA, NEW_PASSWORD)).status).toBe(303);
  });

  test("changing one's password affects neither other users nor API keys", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    await userWithPassword(app, GRACE, "viewer");
    const [ada, grace] = [await signIn(app, ADA), await signIn(app, GRACE)];
    const { value } = await makeKey(app, ada);
    await app.call(`${ACCOUNT}/password`, { session: ada, form: CHANGE });
    expect(await isSignedIn(app, grace)).toBe(true);
    expect(await statusWith(app, value)).toBe(200);
  });

  for (const { what, form, errors } of [
    {
      what: "a wrong present password",
      form: { ...CHANGE, current_password: "wrong" },
      errors: { current_password: "Current password is wrong." },
    },
    {
      what: "a new password that is too short",
      form: { ...CHANGE, new_password: "short" },
      errors: { new_password: "New password is shorter than 12 characters." },
    },
    {
      what: "the own email as password",
      form: { ...CHANGE, new_password: ADA },
      errors: { new_password: "New password must not be the e-mail address." },
    },
  ]) {
    test(`changing one's password with ${what} is rejected, changes nothing and ends no session`, async () => {
      await using app = await createTestApp();
      await userWithPassword(app, ADA);
      const [own, other] = [await signIn(app, ADA), await signIn(app, ADA)];
      const before = app.audit();
      const answer = await app.call(`${ACCOUNT}/password`, { session: own, form });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual(errors);
      for (const typed of Object.values(form)) {
        if (typed !== ADA) expect(answer.text).not.toContain(`"${typed}"`);
      }
      expect(app.audit()).toEqual(before);
      expect(await isSignedIn(app, other)).toBe(true);
      expect((await trySignIn(app, ADA, PASSWORD)).status).toBe(303);
    });
  }

  test("reloading the address of a rejected password form leads to the account screen", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("viewer");
    const { status, headers } = await app.call(`${ACCOUNT}/password`, { session });
    expect([status, headers.get("location")]).toEqual([303, ACCOUNT]);
  });

  test("guessing the current password on the account screen is throttled like signing in", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const session = await signIn(app, ADA);
    const form = { ...CHANGE, current_password: "guess" };
    const send = () => app.call(`${ACCOUNT}/password`, { session, form });
    for (let guess = 0; guess < 3; guess++) await send();
    const rejected = await send();
    expect(fieldErrorsOn(rejected.text)["current_password"]).toMatch(/Wait \d+ seconds?,/);
    const right = await app.call(`${ACCOUNT}/password`, { session, form: CHANGE });
    expect(right.status).toBe(422);
    expect((await trySignIn(app, ADA, NEW_PASSWORD)).status).not.toBe(303);
  });
});

describe("one's own sessions", () => {
  test("the account screen lists sessions with device and address and offers to end all but the current one", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const first = await trySignIn(app, ADA, PASSWORD, { headers: FIREFOX, from: "198.51.100.4" });
    const own = await signIn(app, ADA);
    const { text } = await app.call(ACCOUNT, { session: own });
    expect(text).toContain("Firefox on Linux");
    expect(text).toContain("198.51.100.4");
    expect(sessionIds(text)).toHaveLength(1);
    expect(text).not.toContain(sessionIn(first));
  });

  test("a user can end a single other session", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const [own, other] = [await signIn(app, ADA), await signIn(app, ADA)];
    const [id = ""] = sessionIds((await app.call(ACCOUNT, { session: own })).text);
    const path = `${ACCOUNT}/sessions/end`;
    const answer = await app.call(path, { session: own, form: { session: id } });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, ACCOUNT]);
    expect(await isSignedIn(app, other)).toBe(false);
    expect(await isSignedIn(app, own)).toBe(true);
    expect(actionsOf(app).at(-1)).toBe("session.end");
  });

  test("a user can end all sessions except the current one", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const others = [await signIn(app, ADA), await signIn(app, ADA)];
    const own = await signIn(app, ADA);
    await app.call(`${ACCOUNT}/sessions/end-others`, { session: own, form: {} });
    for (const session of others) expect(await isSignedIn(app, session)).toBe(false);
    expect(await isSignedIn(app, own)).toBe(true);
    // With nothing left to end, nothing is offered and nothing is written.
    const before = app.audit();
    await app.call(`${ACCOUNT}/sessions/end-others`, { session: own, form: {} });
    expect(app.audit()).toEqual(before);
    expect((await app.call(ACCOUNT, { session: own })).text).not.toContain("end-others");
  });

  test("ending a session of another user changes nothing", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    await userWithPassword(app, GRACE, "viewer");
    const [ada, adaToo] = [await signIn(app, ADA), await signIn(app, ADA)];
    const grace = await signIn(app, GRACE);
    const ids = [
      ...sessionIds((await app.call(ACCOUNT, { session: ada })).text),
      ...sessionIds((await app.call(ACCOUNT, { session: adaToo })).text),
    ];
    expect(ids).toHaveLength(2);
    const before = app.audit();
    const path = `${ACCOUNT}/sessions/end`;
    for (const id of [...ids, "", "0", "-1", "NaN", "1e999", "x", "1 OR 1=1", "%"]) {
      const answer = await app.call(path, { session: grace, form: { session: id } });
      expect(answer.status).toBe(303);
    }
    await app.call(`${ACCOUNT}/sessions/end-others`, { session: grace, form: {} });
    for (const session of [ada, adaToo, grace]) expect(await isSignedIn(app, session)).toBe(true);
    expect(app.audit()).toEqual(before);
  });
});

describe("one's own name", () => {
  test("a viewer can change their own name, which is shown and audited", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const { id } = await userWithPassword(app, GRACE, "viewer");
    const session = await signIn(app, GRACE);
    const answer = await app.call(`${ACCOUNT}/name`, { session, form: { name: " Grace Hopper " } });
    expect(answer.status).toBe(303);
    expect(getUser(app.ctx.db, id).name).toBe("Grace Hopper");
    const { text } = await app.call(ACCOUNT, { session });
    expect(readHtml(text).texts(".who")[0]).toContain("Grace Hopper");
    expect(readHtml(text).texts(".flash")).toEqual(["Your name was changed."]);
    expect(actionsOf(app).at(-1)).toBe("user.rename");
    const before = app.audit();
    await app.call(`${ACCOUNT}/name`, { session, form: { name: "Grace Hopper" } });
    const again = await app.call(ACCOUNT, { session });
    expect(readHtml(again.text).texts(".flash")).toEqual(["Nothing was changed."]);
    expect(app.audit()).toEqual(before);
  });

  test("an invalid name is redisplayed with its error, and nothing is written", async () => {
    await using app = await createTestApp();
    const { id } = await userWithPassword(app, ADA);
    const session = await signIn(app, ADA);
    const before = { audit: app.audit(), user: getUser(app.ctx.db, id) };
    for (const name of ["", "  ", "x".repeat(256), "a\u202eb"]) {
      const answer = await app.call(`${ACCOUNT}/name`, { session, form: { name } });
      expect(answer.status).toBe(422);
      expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["name"]);
      expect(typedIn(answer.text, "name")).toEqual([name]);
    }
    expect({ audit: app.audit(), user: getUser(app.ctx.db, id) }).toEqual(before);
  });
});
