import { describe, expect, test } from "bun:test";
import {
  disableUser,
  findUserByEmail,
  getUser,
  setRole,
} from "../../../../src/features/users/users";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { createTestApp, expectProblem } from "../../../support/app";
import {
  actionsOf,
  isSignedIn,
  KEYS,
  PASSWORD,
  sendEdit,
  sendKeyForm,
  sessionIn,
  signIn,
  trySignIn,
  USERS,
  userWithPassword,
} from "../../../support/dashboard";
import { readHtml, typedIn } from "../../../support/html";

const ADA = "ada@example.com";
const GRACE = "grace@example.com";

describe("signing in", () => {
  test("signing in with the right password opens the dashboard and is audited", async () => {
    await using app = await createTestApp();
    const { id } = await userWithPassword(app, ADA);
    const answer = await trySignIn(app, ADA);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin"]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await isSignedIn(app, sessionIn(answer))).toBe(true);
    expect(actionsOf(app).at(-1)).toBe("user.sign_in");
    const now = new Date(app.clock.now()).toISOString();
    expect(getUser(app.ctx.db, id).last_login_at).toBe(now);
  });

  test("signing in ignores the case of the email and blanks around it", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    expect((await trySignIn(app, "  ADA@Example.COM ")).status).toBe(303);
  });

  test("a wrong password, an unknown email and a disabled user get the same answer", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const { id } = await userWithPassword(app, GRACE, "editor");
    await app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    const before = app.audit();
    const attempts = [
      await trySignIn(app, ADA, "wrong"),
      await trySignIn(app, "nobody@example.com", "wrong"),
      await trySignIn(app, GRACE, PASSWORD),
      await trySignIn(app, ADA, ""),
    ];
    const pages = attempts.map(({ status, headers, text }) => {
      const [email = ""] = typedIn(text, "email");
      return { status, cookie: headers.get("set-cookie"), text: text.replaceAll(email, "EMAIL") };
    });
    const [first] = pages;
    expect(first?.status).toBe(422);
    expect(first?.cookie).toBeNull();
    expect(first?.text).toContain("The e-mail or the password is wrong.");
    for (const page of pages) expect(page).toEqual(first as (typeof pages)[number]);
    expect(app.audit()).toEqual(before);
  });

  test("a rejected sign-in redisplays the email and never shows or logs the password", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    await userWithPassword(app, ADA);
    const answer = await trySignIn(app, ADA, "hunter2 hunter2");
    expect(typedIn(answer.text, "email")).toEqual([ADA]);
    expect(typedIn(answer.text, "password")).toEqual([""]);
    expect(answer.text).not.toContain("hunter2");
    expect(JSON.stringify(app.logged)).not.toContain("hunter2");
    expect(JSON.stringify(app.logged)).toContain(ADA);
  });

  test("an empty sign-in form is rejected", async () => {
    await using app = await createTestApp();
    const answer = await app.call("/admin/sign-in", { form: {} });
    expect(answer.status).toBe(422);
    expect(readHtml(answer.text).texts('[role="alert"]')).toEqual([
      "The e-mail or the password is wrong.",
    ]);
  });

  test("signing in creates a new session and ends the earlier one of the browser", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const first = await signIn(app, ADA);
    const second = await signIn(app, ADA, { session: first });
    expect(second).not.toBe(first);
    expect(await isSignedIn(app, first)).toBe(false);
    expect(await isSignedIn(app, second)).toBe(true);
  });

  test("signing in as another user ends the earlier session of the browser", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    await userWithPassword(app, GRACE, "viewer");
    const ada = await signIn(app, ADA);
    const grace = await signIn(app, GRACE, { session: ada });
    expect(await isSignedIn(app, ada)).toBe(false);
    expect((await app.call(USERS, { session: grace })).status).toBe(403);
  });

  test("a wrong password leaves the earlier session of the browser", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const session = await signIn(app, ADA);
    expect((await trySignIn(app, ADA, "wrong", { session })).status).toBe(422);
    expect(await isSignedIn(app, session)).toBe(true);
  });

  test("signing in does not make a planted session token live", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const planted = "p".repeat(43);
    const session = await signIn(app, ADA, { session: planted });
    expect(session).not.toBe(planted);
    expect(await isSignedIn(app, planted)).toBe(false);
  });

  test("signing in on two browsers leaves both signed in", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const browsers = [await signIn(app, ADA), await signIn(app, ADA)];
    for (const session of browsers) expect(await isSignedIn(app, session)).toBe(true);
  });
});

describe("signing out", () => {
  test("signing out ends only that session and clears cookie and cache, and can be repeated", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const [session, other] = [await signIn(app, ADA), await signIn(app, ADA)];
    const answer = await app.call("/admin/sign-out", { session, form: {} });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin/sign-in"]);
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-allclear=; Max-Age=0;/);
    expect(answer.headers.get("clear-site-data")).toBe('"cache"');
    expect(await isSignedIn(app, session)).toBe(false);
    expect(await isSignedIn(app, other)).toBe(true);
    // Twice is no fault of the browser's: it leads to the same place, and changes nothing.
    const audit = app.audit();
    const again = await app.call("/admin/sign-out", { session, form: {} });
    expect([again.status, again.headers.get("location")]).toEqual([303, "/admin/sign-in"]);
    expect(again.headers.get("set-cookie")).toMatch(/^__Host-allclear=; Max-Age=0;/);
    expect(app.audit()).toEqual(audit);
  });

  test("opening the address of signing out ends no session", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    expectProblem(await app.call("/admin/sign-out", { session }), "method_not_allowed");
    expect(await isSignedIn(app, session)).toBe(true);
  });
});

describe("a user with an open session", () => {
  test("a disabled user is rejected on the next request, and their form writes nothing", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const { id } = await userWithPassword(app, GRACE, "admin");
    const [owner, session] = [await signIn(app, ADA), await signIn(app, GRACE)];
    expect((await app.call(KEYS, { session })).status).toBe(200);
    const disabling = await app.call(`${USERS}/${id}/disable`, { session: owner, form: {} });
    expect(disabling.status).toBe(303);
    const before = app.audit();
    expectProblem(await app.call(KEYS, { session }), "sign_in_required");
    const form = { name: "late", scopes: ["read:status"], expires: "never" };
    expectProblem(await app.call(`${KEYS}/new`, { session, form }), "sign_in_required");
    expect((await trySignIn(app, GRACE)).status).toBe(422);
    expect(app.audit()).toEqual(before);
    expect(await isSignedIn(app, owner)).toBe(true);
  });

  test("a user who was disabled and enabled again must sign in again", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const { id } = await userWithPassword(app, GRACE, "admin");
    const [owner, session] = [await signIn(app, ADA), await signIn(app, GRACE)];
    await app.call(`${USERS}/${id}/disable`, { session: owner, form: {} });
    await app.call(`${USERS}/${id}/enable`, { session: owner, form: {} });
    expect(await isSignedIn(app, session)).toBe(false);
    expect(await isSignedIn(app, await signIn(app, GRACE))).toBe(true);
  });

  test("a user with a lesser role is rejected on the next request where the role does not suffice", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    const { id } = await userWithPassword(app, GRACE, "admin");
    const [owner, session] = [await signIn(app, ADA), await signIn(app, GRACE)];
    expect((await sendKeyForm(app, session)).status).toBe(200);
    const screen = `${USERS}/${id}`;
    const change = { session: owner, form: { role: "viewer" }, screen };
    expect((await sendEdit(app, `${screen}/role`, change)).status).toBe(303);
    const before = app.audit();
    expectProblem(await app.call(KEYS, { session }), "insufficient_role");
    const form = { name: "late", scopes: ["read:status"], expires: "never" };
    expectProblem(await app.call(`${KEYS}/new`, { session, form }), "insufficient_role");
    expect(app.audit()).toEqual(before);
    // What a viewer may see stays open, and leads nowhere else.
    const overview = await app.call("/admin", { session });
    expect(overview.status).toBe(200);
    expect(readHtml(overview.text).attributes("nav a", "href")).not.toContain(KEYS);
  });

  test("a user with a greater role has its permissions from the next request on", async () => {
    await using app = await createTestApp();
    await userWithPassword(app, ADA);
    await userWithPassword(app, GRACE, "viewer");
    const session = await signIn(app, GRACE);
    expectProblem(await app.call(KEYS, { session }), "insufficient_role");
    const id = findUserByEmail(app.ctx.db, GRACE)?.id ?? "";
    await app.ctx.db.write((tx) => setRole(app.ctx, tx, id, "admin", CLI_ACTOR));
    expect((await app.call(KEYS, { session })).status).toBe(200);
  });
});
