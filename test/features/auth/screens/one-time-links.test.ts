import { describe, expect, test } from "bun:test";
import {
  disableUser,
  enableUser,
  findUserByEmail,
  getUser,
} from "../../../../src/features/users/users";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { type Answer, createTestApp, type TestApp } from "../../../support/app";
import {
  ACCOUNT,
  actionsOf,
  expectDead,
  invite,
  isSignedIn,
  makeLink,
  PASSWORD,
  sessionIn,
  signIn,
  trySignIn,
  USERS,
  userWithPassword,
} from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";

const HOUR = 60 * 60 * 1_000;
const DAY = 24 * HOUR;
const GRACE = "grace@example.com";
const NEW_PASSWORD = "another horse battery";
const CHOSEN = { name: "Grace Hopper", password: NEW_PASSWORD };

/** Links by which a user chooses a password, and their lifetimes. */
const LINKS: {
  what: string;
  lastsMs: number;
  make(app: TestApp, owner: string): Promise<{ path: string; id: string }>;
}[] = [
  { what: "an invitation", lastsMs: 7 * DAY, make: (app, owner) => invite(app, owner, GRACE) },
  {
    what: "a link for a new password",
    lastsMs: DAY,
    async make(app, owner) {
      const { id } = await userWithPassword(app, GRACE, "editor");
      return { path: await makeLink(app, owner, id), id };
    },
  },
];

for (const { what, lastsMs, make } of LINKS) {
  describe(what, () => {
    test(`${what} sets the password and signs in, once`, async () => {
      await using app = await createTestApp();
      const { path } = await make(app, await app.signedIn());
      expect((await app.call(path)).status).toBe(200);
      const answer = await app.call(path, { form: CHOSEN });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin"]);
      expect(await isSignedIn(app, sessionIn(answer))).toBe(true);
      expect(actionsOf(app).at(-1)).toBe("user.accept");
      await expectDead(app, path, { ...CHOSEN, password: "the second holder's" });
      expect((await trySignIn(app, GRACE, NEW_PASSWORD)).status).toBe(303);
    });

    test("submitting the link twice at once signs in once", async () => {
      await using app = await createTestApp();
      const { path } = await make(app, await app.signedIn());
      const send = () => app.call(path, { form: CHOSEN });
      const answers = await Promise.all([send(), send()]);
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 404]);
      expect(actionsOf(app).filter((action) => action === "user.accept")).toHaveLength(1);
    });

    test(`${what} opens nothing after its time`, async () => {
      await using app = await createTestApp();
      const { path } = await make(app, await app.signedIn());
      await app.clock.advance(lastsMs - 1);
      expect((await app.call(path)).status).toBe(200);
      await app.clock.advance(1);
      await expectDead(app, path, CHOSEN);
    });

    test(`${what} opens nothing after a newer one was created`, async () => {
      await using app = await createTestApp();
      const owner = await app.signedIn();
      const { path, id } = await make(app, owner);
      const newer = await makeLink(app, owner, id);
      await expectDead(app, path, CHOSEN);
      expect((await app.call(newer, { form: CHOSEN })).status).toBe(303);
    });

    test(`${what} opens nothing after its user was disabled, not even once enabled again`, async () => {
      await using app = await createTestApp();
      const { path, id } = await make(app, await app.signedIn());
      await app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
      await expectDead(app, path, CHOSEN);
      await app.ctx.db.write((tx) => enableUser(app.ctx, tx, id, CLI_ACTOR));
      await expectDead(app, path, CHOSEN);
    });

    test("a rejected password does not use up the link and is not redisplayed", async () => {
      await using app = await createTestApp();
      const { path, id } = await make(app, await app.signedIn());
      const before = { user: getUser(app.ctx.db, id), audit: app.audit() };
      for (const [password, error] of [
        ["", "Password is shorter than 12 characters."],
        ["eleven char", "Password is shorter than 12 characters."],
        [GRACE, "Password must not be the e-mail address."],
        ["x".repeat(1_001), "Password is longer than 1,000 characters."],
      ] as const) {
        const answer = await app.call(path, { form: { ...CHOSEN, password } });
        expect(answer.status).toBe(422);
        expect(fieldErrorsOn(answer.text)).toEqual({ password: error });
        expect(typedIn(answer.text, "password")).toEqual([""]);
        expect(answer.headers.get("set-cookie")).toBeNull();
      }
      expect({ user: getUser(app.ctx.db, id), audit: app.audit() }).toEqual(before);
      expect((await app.call(path, { form: CHOSEN })).status).toBe(303);
    });

    test(`${what} does not work as a set-up link`, async () => {
      await using app = await createTestApp();
      const { path } = await make(app, await app.signedIn());
      await expectDead(app, path.replace("/join/", "/setup/"), CHOSEN);
      expect((await app.call(path)).status).toBe(200);
    });
  });
}

describe("an invitation", () => {
  test("an invitation sets the role that it was created with and the name that its holder chose", async () => {
    await using app = await createTestApp();
    const { path } = await invite(app, await app.signedIn(), GRACE, "viewer");
    expect(typedIn((await app.call(path)).text, "name")).toEqual(["Grace"]);
    const form = { ...CHOSEN, role: "owner", email: "eve@example.com" };
    const session = sessionIn(await app.call(path, { form }));
    expect(findUserByEmail(app.ctx.db, GRACE)).toMatchObject({
      name: "Grace Hopper",
      role: "viewer",
      has_password: true,
    });
    expect((await app.call(ACCOUNT, { session })).status).toBe(200);
    expect((await app.call(USERS, { session })).status).toBe(403);
  });

  test("an invitation takes the time zone of the browser, which a link for a new password keeps", async () => {
    await using app = await createTestApp();
    const owner = await app.signedIn();
    const { path, id } = await invite(app, owner, GRACE, "viewer");
    const zoneOf = async (answer: Answer) =>
      typedIn((await app.call(ACCOUNT, { session: sessionIn(answer) })).text, "time_zone");
    const joined = await app.call(path, { form: { ...CHOSEN, time_zone: "Asia/Tokyo" } });
    expect(await zoneOf(joined)).toEqual(["Asia/Tokyo"]);
    const link = await makeLink(app, owner, id);
    const again = await app.call(link, { form: { ...CHOSEN, time_zone: "Europe/Berlin" } });
    expect(await zoneOf(again)).toEqual(["Asia/Tokyo"]);
  });

  test("an invalid acceptance is redisplayed with an error for each field, and writes nothing", async () => {
    await using app = await createTestApp();
    const { path } = await invite(app, await app.signedIn(), GRACE);
    const before = app.audit();
    const answer = await app.call(path, { form: { name: "a\u202eb", password: "short" } });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["name", "password"]);
    expect(typedIn(answer.text, "name")).toEqual(["a\u202eb"]);
    expect(app.audit()).toEqual(before);
  });

  test("a user who has not accepted their invitation cannot sign in", async () => {
    await using app = await createTestApp();
    await invite(app, await app.signedIn(), GRACE);
    for (const password of ["", PASSWORD]) {
      expect((await trySignIn(app, GRACE, password)).status).toBe(422);
    }
  });
});

describe("a link for a new password", () => {
  test("a password link ends all sessions of the user and the old password", async () => {
    await using app = await createTestApp();
    const owner = await app.signedIn();
    const { id } = await userWithPassword(app, GRACE, "editor");
    const [stolen, own] = [await signIn(app, GRACE), await signIn(app, GRACE)];
    const path = await makeLink(app, owner, id);
    // The present password goes on working until the link is used.
    expect(await isSignedIn(app, stolen)).toBe(true);
    const session = sessionIn(await app.call(path, { form: CHOSEN }));
    expect(await isSignedIn(app, stolen)).toBe(false);
    expect(await isSignedIn(app, own)).toBe(false);
    expect(await isSignedIn(app, session)).toBe(true);
    expect(await isSignedIn(app, owner)).toBe(true);
    expect((await trySignIn(app, GRACE, PASSWORD)).status).toBe(422);
  });

  test("a password link changes nothing else of the user", async () => {
    await using app = await createTestApp();
    const owner = await app.signedIn();
    const { id } = await userWithPassword(app, GRACE, "editor");
    const path = await makeLink(app, owner, id);
    const page = await app.call(path);
    expect(readHtml(page.text).texts("h1")).toEqual(["Choose a new password"]);
    expect(typedIn(page.text, "name")).toEqual([]);
    await app.call(path, { form: CHOSEN });
    expect(getUser(app.ctx.db, id)).toMatchObject({ name: "grace", role: "editor", email: GRACE });
  });

  test("a password link opens nothing after the user changed their password", async () => {
    await using app = await createTestApp();
    const owner = await app.signedIn();
    const { id } = await userWithPassword(app, GRACE, "editor");
    const path = await makeLink(app, owner, id);
    const session = await signIn(app, GRACE);
    const form = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    expect((await app.call(`${ACCOUNT}/password`, { session, form })).status).toBe(303);
    await expectDead(app, path, CHOSEN);
  });

  test("a password link cannot be created for a disabled user", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const { id } = await userWithPassword(app, GRACE, "editor");
    await app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    const before = app.audit();
    const answer = await app.call(`${USERS}/${id}/link`, { session, form: {} });
    expect(answer.status).toBe(409);
    expect(app.audit()).toEqual(before);
  });
});
