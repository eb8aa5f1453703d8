import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { HOUR_MS, MINUTE_MS } from "../../src/base/time";
import { selectMany } from "../../src/db/statements";
import { SCOPE_NAMES } from "../../src/features/keys/scopes";
import { sessions } from "../../src/db/tables/users";
import { listIdentitiesOf } from "../../src/features/users/store";
import { disableUser, findUserByEmail, listUsers } from "../../src/features/users/users";
import { chargeOf, createTestApp, expectProblem, requestOf, type TestApp } from "../support/app";
import { BrowserClient } from "../support/browser-client";
import {
  HTML,
  KEY_FIELDS,
  NEW_KEY,
  NO_BASE_URL,
  PASSWORD,
  revealedValue,
  sessionIn,
  signIn,
  USERS,
  userWithPassword,
} from "../support/dashboard";
import { readExposition } from "../support/exposition";
import { readHtml, typedIn } from "../support/html";
import { createProxiedApp, named, PROXY, PROXY_ENV, PROXY_SECRET } from "../support/identity-proxy";
import { formOf } from "../support/monitor-dashboard";
import { rawRequest } from "../support/raw-http";
import { enrol } from "../support/second-factors";
import { temporaryFolder } from "../support/temporary-folder";

const BOB = "bob@northwind.example";
const OTHER_NETWORK = "10.0.0.16";

const listSessions = selectMany((orm, _$: Record<string, never>) =>
  orm.select({ userId: sessions.userId, identityId: sessions.identityId }).from(sessions),
);

/** A browser whose requests pass the proxy, which names a user. */
function browserOf(app: TestApp, session?: string) {
  const client = new BrowserClient(app, session);
  return {
    client,
    open: (path: string, headers: Record<string, string>, more: object = {}) =>
      client.open(path, { from: PROXY, headers, ...more }),
  };
}

/** Returns the addresses of the users with live sessions, sorted. */
function signedInAs(app: TestApp): string[] {
  const emails = new Map(listUsers(app.ctx.db).map(({ id, email }) => [id, email]));
  return listSessions(app.ctx.db, {})
    .map(({ userId }) => emails.get(userId) ?? "")
    .toSorted();
}

/** Expects that an answer asks to sign in, and that no session began and nothing was written. */
async function expectNothing(
  app: TestApp,
  headers: Record<string, string>,
  from: string = PROXY,
): Promise<void> {
  const before = app.ctx.db.changes;
  const answer = await app.call("/admin", { headers, from });
  expectProblem(answer, "sign_in_required");
  expect(answer.headers.get("set-cookie")).toBeNull();
  expect(app.ctx.db.changes).toBe(before);
}

describe("the first request of a user whom the proxy names", () => {
  test("shows the screen, creates the user as a viewer, and starts a session", async () => {
    await using app = await createProxiedApp();
    const { client, open } = browserOf(app);
    const answer = await open("/admin", named("bob"));
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(BOB);
    expect(findUserByEmail(app.ctx.db, BOB)).toMatchObject({
      name: "bob",
      role: "viewer",
      has_password: false,
    });
    expect(app.audit().slice(-2)).toMatchObject([
      {
        action: "user.create",
        summary: expect.stringContaining("signed in with the identity proxy"),
      },
      { action: "user.sign_in", summary: "“bob” signed in with the identity proxy" },
    ]);
    expect(client.session).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(answer.headers.get("set-cookie")).toContain("HttpOnly; SameSite=Lax; Secure");
  });

  test("is charged to the address, and later ones to the session", async () => {
    await using app = await createProxiedApp();
    const { open } = browserOf(app);
    expect(chargeOf(await open("/admin", named("bob")))).toBe("public 99");
    expect(chargeOf(await open("/admin", named("bob")))).toBe("session 599");
    expect(signedInAs(app)).toEqual([BOB]);
  });

  test("starts no session once the address has used up its requests", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_PUBLIC_RATE_LIMIT: "1" });
    await app.call("/nothing", { from: PROXY });
    const before = app.ctx.db.changes;
    const answer = await app.call("/admin", { from: PROXY, headers: named("bob") });
    expectProblem(answer, "rate_limited");
    expect(app.ctx.db.changes).toBe(before);
  });

  test("may be a HEAD, and a form, which takes effect", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "ops=admin" });
    const headers = named("bob", { groups: "ops" });
    const head = await app.call("/admin", { method: "HEAD", from: PROXY, headers });
    expect(head.status).toBe(200);
    expect(head.headers.get("set-cookie")).toContain("__Host-allclear=");
    const form = { form: "once", ...KEY_FIELDS };
    const posted = await app.call(NEW_KEY, { from: PROXY, headers, form });
    expect(revealedValue(posted)).toBeString();
    expect(posted.headers.get("set-cookie")).toContain("__Host-allclear=");
  });

  test("keeps the form of a browser without a trace of its session, and shows it before it takes effect", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "*=admin" });
    const { client, open } = browserOf(app);
    const refused = await open(NEW_KEY, named("bob"), { form: { form: "once", ...KEY_FIELDS } });
    expect(refused.status).toBe(401);
    const page = readHtml(refused.text);
    expect(page.texts("h1")).toEqual(["You are signed in"]);
    expect(page.texts("main").join()).toContain("It may have been filled in by another user.");
    expect(page.texts("button")).toContain("Continue to the form");
    expect(signedInAs(app)).toEqual([BOB]);
    expect(app.audit().map(({ action }) => action)).not.toContain("key.create");
    const [action = ""] = page.attributes("form", "action");
    expect(action).toBe(NEW_KEY);
    const shown = await open(action, named("bob"), { form: formOf(refused.text) });
    expect(typedIn(shown.text, "name")).toEqual(["Deploy bot"]);
    const again = { ...formOf(shown.text), ...KEY_FIELDS };
    expect(revealedValue(await open(NEW_KEY, named("bob"), { form: again }))).toBeString();
    expect(client.session).toBeDefined();
  });

  test("does not press a button of a browser without a trace of its session", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "*=owner" });
    const { id } = await userWithPassword(app, "grace@example.com", "viewer");
    const { open } = browserOf(app);
    const path = `${USERS}/${id}/disable`;
    const refused = await open(path, named("bob"), { form: {} });
    expect(refused.status).toBe(401);
    const page = readHtml(refused.text);
    expect(page.texts(".notice").join()).toContain("Nothing was changed.");
    expect(page.texts("a.button")).toEqual(["Continue"]);
    expect(listUsers(app.ctx.db).filter((user) => user.disabled_at !== null)).toEqual([]);
    expect((await open(path, named("bob"), { form: {} })).status).toBe(303);
  });

  test("starts no session as a form of another site", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "*=admin" });
    const before = app.ctx.db.changes;
    const headers = { ...named("bob"), origin: "https://evil.example" };
    const form = { name: "x" };
    const answer = await app.call(NEW_KEY, { from: PROXY, headers, form });
    expectProblem(answer, "cross_site_request");
    expect(app.ctx.db.changes).toBe(before);
  });

  test("is refused by the role of its user, but starts the session", async () => {
    await using app = await createProxiedApp();
    const { client, open } = browserOf(app);
    expect((await open(USERS, named("bob"))).status).toBe(403);
    expect(client.session).toBeDefined();
  });

  test("starts a session of 12 hours, after which the next one starts another", async () => {
    await using app = await createProxiedApp();
    const { client, open } = browserOf(app);
    await open("/admin", named("bob"));
    const first = client.session;
    for (let hour = 1; hour < 12; hour++) {
      await app.clock.advance(HOUR_MS);
      await open("/admin", named("bob"));
    }
    expect(client.session).toBe(first);
    await app.clock.advance(HOUR_MS);
    expect((await open("/admin", named("bob"))).status).toBe(200);
    expect(client.session).not.toBe(first);
  });

  test("creates the first user only if its groups make an owner", async () => {
    await using app = await createTestApp({
      env: { ...PROXY_ENV, ALLCLEAR_ROLES: "root=owner; *=admin" },
    });
    await expectNothing(app, named("bob"));
    const answer = await app.call("/admin", {
      from: PROXY,
      headers: named("ada", { groups: "root" }),
    });
    expect(answer.status).toBe(200);
    expect(listUsers(app.ctx.db).map(({ role }) => role)).toEqual(["owner"]);
  });
});

describe("a client that keeps no cookies", () => {
  test("gets the same session again for an hour, so that it ends no others and fills no log", async () => {
    await using app = await createProxiedApp();
    const { client, open } = browserOf(app);
    const own = { ...named("bob"), "user-agent": "Firefox" };
    await open("/admin", own);
    const actions = app.audit().length;
    const probe = { from: PROXY, headers: { ...named("bob"), "user-agent": "curl" } };
    for (let count = 0; count < 60; count++) {
      expect((await app.call("/admin", probe)).status).toBe(200);
    }
    expect(signedInAs(app)).toEqual([BOB, BOB]);
    expect(app.audit()).toHaveLength(actions + 1);
    expect((await open("/admin", own)).status).toBe(200);
    // The first one was charged to the address.
    expect(chargeOf(await app.call("/admin", probe))).toBe("session 540");
    await app.clock.advance(HOUR_MS);
    await app.call("/admin", probe);
    expect(signedInAs(app)).toEqual([BOB, BOB, BOB]);
    expect((await app.call("/admin", { session: client.session })).status).toBe(401);
  });

  test("is not given the session in the answer to a form of another site, or of another user", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "*=admin" });
    const ada = browserOf(app);
    await ada.open("/admin", named("ada"));
    await app.clock.advance(12 * HOUR_MS);
    const session = sessionIn(await app.call("/admin", { from: PROXY, headers: named("bob") }));
    const form = { form: "once", ...KEY_FIELDS };
    const foreign = { ...named("bob"), origin: "https://evil.example" };
    const answers = [
      await app.call(NEW_KEY, { from: PROXY, headers: foreign, form }),
      await app.call(NEW_KEY, {
        from: PROXY,
        headers: named("bob"),
        form,
        session: ada.client.session,
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 401]);
    expect(answers.map(({ headers }) => headers.get("set-cookie"))).toEqual([null, null]);
    expect(sessionIn(await app.call("/admin", { from: PROXY, headers: named("bob") }))).toBe(
      session,
    );
  });

  test("gets another session for another user, address or browser, and once the first has ended", async () => {
    await using app = await createProxiedApp();
    const tokenOf = async (headers: Record<string, string>, from: string = PROXY) =>
      sessionIn(await app.call("/admin", { from, headers }));
    const first = await tokenOf(named("bob"));
    expect(await tokenOf(named("bob"))).toBe(first);
    const others = [
      await tokenOf(named("ada")),
      await tokenOf(named("bob"), "10.0.0.6"),
      await tokenOf({ ...named("bob"), "user-agent": "curl" }),
    ];
    expect(new Set([first, ...others]).size).toBe(4);
    await app.call("/admin/sign-out", { session: first, form: {}, from: PROXY });
    expect(await tokenOf(named("bob"))).not.toBe(first);
  });
});

describe("the role of a user whom the proxy names", () => {
  const ROLES = { ALLCLEAR_ROLES: "sre=admin; support=editor; *=viewer" };

  test("is the highest of the groups, which are separated by commas, at each start of a session", async () => {
    await using app = await createProxiedApp(ROLES);
    const roleWith = async (groups: string) => {
      const headers = { ...named("bob", { groups }), "user-agent": `Browser ${groups}` };
      await app.call("/admin", { from: PROXY, headers });
      return findUserByEmail(app.ctx.db, BOB)?.role;
    };
    expect(await roleWith("support,sre")).toBe("admin");
    expect(await roleWith("a , support ,b")).toBe("editor");
    expect(await roleWith("")).toBe("viewer");
  });

  test("stays as it is while the session lasts", async () => {
    await using app = await createProxiedApp(ROLES);
    const { open } = browserOf(app);
    await open("/admin", named("bob", { groups: "sre" }));
    await open("/admin", named("bob", { groups: "support" }));
    expect(findUserByEmail(app.ctx.db, BOB)?.role).toBe("admin");
  });

  test("is none without a group that has one: the user is refused", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "sre=admin" });
    await expectNothing(app, named("bob", { groups: "support" }));
    expect(app.logged.at(-1)).toMatchObject({
      msg: "a user whom the identity proxy names was not let in",
      name: "bob",
      reason: "no group of the user has a role",
    });
  });
});

describe("a user whom the proxy names and who is not let in", () => {
  test("without an e-mail is not created", async () => {
    await using app = await createProxiedApp();
    await expectNothing(app, named("bob", { email: "" }));
  });

  test("does not become a user by the e-mail alone, unless the option says so", async () => {
    await using app = await createProxiedApp();
    await userWithPassword(app, BOB, "editor");
    await expectNothing(app, named("bob"));
    await using open = await createProxiedApp({ ALLCLEAR_OIDC_LINK_BY_EMAIL: "on" });
    const { id } = await userWithPassword(open, BOB, "editor");
    expect((await open.call("/admin", { from: PROXY, headers: named("bob") })).status).toBe(200);
    expect(listIdentitiesOf(open.ctx.db, { userId: id })).toMatchObject([{ issuer: "proxy" }]);
  });

  test("is not created where only invited users come in", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_CREATE_USERS: "off" });
    await expectNothing(app, named("bob"));
  });

  test("stays out while disabled", async () => {
    await using app = await createProxiedApp();
    const { open } = browserOf(app);
    await open("/admin", named("bob"));
    const { id = "" } = findUserByEmail(app.ctx.db, BOB) ?? {};
    await app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    await expectNothing(app, named("bob"));
    const page = await open("/admin", named("bob"));
    expect(page.headers.get("location")).toBe("/admin/sign-in?next=%2Fadmin");
  });

  test("keeps a form in the browser, and can sign in with a password to return to it", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_CREATE_USERS: "off" });
    const { open } = browserOf(app);
    const form = { form: "once", ...KEY_FIELDS };
    const refused = await open(NEW_KEY, named("bob"), { form });
    expect(refused.status).toBe(401);
    const page = readHtml(refused.text);
    expect(page.texts(".notice").join()).toContain("names you as bob");
    const [action = ""] = page.attributes("form", "action");
    const typed = { ...formOf(refused.text), email: "owner@example.com", password: PASSWORD };
    const answer = await open(action, named("bob"), { form: typed });
    expect(readHtml(answer.text).texts("button")).toContain("Continue to the form");
  });

  test("sees the reason on the sign-in screen and in the problem", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_CREATE_USERS: "off" });
    const { open } = browserOf(app);
    expect((await open("/admin/incidents", named("bob"))).headers.get("location")).toBe(
      "/admin/sign-in?next=%2Fadmin%2Fincidents",
    );
    const screen = readHtml((await open("/admin/sign-in", named("bob"))).text);
    expect(screen.texts(".notice").join()).toContain("names you as bob");
    expect(screen.attributes('input[name="password"]', "type")).toEqual(["password"]);
    const problem = await app.call("/admin", { from: PROXY, headers: named("bob") });
    expect(expectProblem(problem, "sign_in_required").detail).toContain("names you as bob");
  });
});

describe("a session that the proxy began", () => {
  test("ends with a request that names no user", async () => {
    await using app = await createProxiedApp();
    const { client, open } = browserOf(app);
    await open("/admin", named("bob"));
    const answer = await open("/admin", {});
    expect(answer.headers.get("location")).toContain("/admin/sign-in");
    expect(signedInAs(app)).toEqual([]);
    expect(app.audit().at(-1)).toMatchObject({ action: "session.end" });
    expect((await app.call("/admin", { session: client.session })).status).toBe(401);
  });

  test("ends with a request past the proxy, even if that names the same user", async () => {
    await using app = await createProxiedApp();
    const { client } = browserOf(app);
    await client.open("/admin", { from: PROXY, headers: named("bob") });
    const past = await client.open("/admin", { headers: named("bob") });
    expect(past.headers.get("location")).toContain("/admin/sign-in");
    expect(signedInAs(app)).toEqual([]);
  });

  test("is replaced by that of another user whom the proxy names", async () => {
    await using app = await createProxiedApp();
    const { client, open } = browserOf(app);
    await open("/admin", named("bob"));
    const first = client.session;
    expect((await open("/admin", named("ada"))).text).toContain("ada@northwind.example");
    expect(client.session).not.toBe(first);
    expect(signedInAs(app)).toEqual(["ada@northwind.example"]);
  });

  test("ends with a request that names a user who is not let in", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "ops=viewer" });
    const { open } = browserOf(app);
    await open("/admin", named("bob", { groups: "ops" }));
    expect(signedInAs(app)).toEqual([BOB]);
    await open("/admin", named("eve"));
    expect(signedInAs(app)).toEqual([]);
  });

  test("does not let a form of one user take effect in the name of the next", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "*=admin" });
    const { open } = browserOf(app);
    const form = { form: "once", ...KEY_FIELDS };
    for (const hours of [0, 12]) {
      await open("/admin", named("bob"));
      // Also once the session has expired.
      await app.clock.advance(hours * HOUR_MS);
      const answer = await open(NEW_KEY, named("ada"), { form });
      expect(answer.status).toBe(401);
      expect(answer.text).toContain("Nothing was saved, and the form is not kept.");
      expect(readHtml(answer.text).texts("a.button")).toEqual(["Continue"]);
    }
    expect(app.audit().map(({ action }) => action)).not.toContain("key.create");
  });

  test("counts on private pages, which the proxy need not pass", async () => {
    await using app = await createProxiedApp();
    await app.page({ slug: "inner", visibility: "private" });
    const { client, open } = browserOf(app);
    await open("/admin", named("bob"));
    expect((await client.open("/status/inner")).status).toBe(200);
    expect(signedInAs(app)).toEqual([BOB]);
  });

  test("ends once no proxy is set up any more", async () => {
    using folder = temporaryFolder();
    const databasePath = `${folder.path}/database`;
    await using app = await createTestApp({ databasePath, env: PROXY_ENV });
    await userWithPassword(app, "owner@example.com");
    const { client, open } = browserOf(app);
    await open("/admin", named("bob"));
    await using without = await createTestApp({ databasePath });
    const past = { session: client.session, from: PROXY, headers: named("bob") };
    expect((await without.call("/admin", past)).status).toBe(401);
    expect(signedInAs(app)).toEqual([]);
  });

  test("begins again after signing out only when the user goes on", async () => {
    await using app = await createProxiedApp();
    const { client, open } = browserOf(app);
    await open("/admin", named("bob"));
    const out = await open("/admin/sign-out", named("bob"), { form: {} });
    expect(out.headers.get("location")).toBe("/admin/sign-in");
    expect(client.session).toBeUndefined();
    const screen = readHtml((await open("/admin/sign-in", named("bob"))).text);
    expect(screen.texts("p").join()).toContain("names you as bob");
    expect(screen.attributes("a.button", "href")).toEqual(["/admin"]);
    expect(screen.attributes("input", "name")).toEqual([]);
    expect(signedInAs(app)).toEqual([]);
  });

  test("stays one of the proxy when its user changes the public address to HTTPS", async () => {
    await using app = await createProxiedApp({ ...NO_BASE_URL, ALLCLEAR_ROLES: "*=owner" });
    const { open } = browserOf(app);
    await open("/admin", named("bob"));
    const form = { public_address: "https://status.acme.test" };
    const changed = await open("/admin/settings/general", named("bob"), { form });
    expect(changed.headers.getSetCookie().at(-1)).toStartWith("__Host-allclear=");
    const [session, ...others] = listSessions(app.ctx.db, {});
    expect(session?.identityId).toBeNumber();
    expect(others).toEqual([]);
  });

  test("gets the cookie of a new address also if the same request began it", async () => {
    await using app = await createProxiedApp({ ...NO_BASE_URL, ALLCLEAR_ROLES: "*=owner" });
    const form = { public_address: "https://status.acme.test" };
    const { client, open } = browserOf(app);
    await open("/admin/settings/general", named("bob"), { form });
    expect((await open("/admin", named("bob"))).status).toBe(200);
    expect(client.session).toBeDefined();
    expect(signedInAs(app)).toEqual([BOB]);
  });
});

describe("a second factor", () => {
  const REQUIRED = { ALLCLEAR_SECOND_FACTOR: "viewer", ALLCLEAR_ROLES: "ops=owner; *=viewer" };

  test("is neither required from users whom the proxy names, nor asked for", async () => {
    await using app = await createProxiedApp(REQUIRED);
    const headers = named("bob", { groups: "ops" });
    const { open } = browserOf(app);
    expect((await open(USERS, headers)).status).toBe(200);
    expect((await open(USERS, headers)).status).toBe(200);
    const form = { form: "once", ...KEY_FIELDS };
    expect(revealedValue(await open(NEW_KEY, headers, { form }))).toBeString();
    await enrol(app, findUserByEmail(app.ctx.db, BOB)?.id ?? "");
    expect((await browserOf(app).open(USERS, headers)).status).toBe(200);
  });

  test("is required from users with a password behind the proxy, until it names them", async () => {
    await using app = await createProxiedApp(REQUIRED);
    const session = await signIn(app, "owner@example.com");
    const { client, open } = browserOf(app, session);
    const past = await open(USERS, {});
    expect(past.headers.get("location")).toStartWith("/admin/settings/account/second-factor?");
    expect((await open(USERS, named("bob", { groups: "ops" }))).status).toBe(200);
    expect(client.session).not.toBe(session);
    expect(signedInAs(app)).toEqual([BOB]);
  });
});

describe("a session that began with a password", () => {
  test("goes on without a header, and if the proxy names a user who is not let in", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_CREATE_USERS: "off" });
    const { open } = browserOf(app, await signIn(app, "owner@example.com"));
    for (const headers of [{}, named("bob")]) {
      const answer = await open("/admin", headers);
      expect([answer.status, chargeOf(answer).split(" ")[0]]).toEqual([200, "session"]);
    }
    expect(signedInAs(app)).toEqual(["owner@example.com"]);
    expect(app.logged.filter(({ level }) => level === 40)).toEqual([]);
  });

  test("is replaced by that of a user whom the proxy names", async () => {
    await using app = await createProxiedApp();
    const { open } = browserOf(app, await signIn(app, "owner@example.com"));
    expect((await open("/admin", named("bob"))).text).toContain(BOB);
    expect(signedInAs(app)).toEqual([BOB]);
  });
});

describe("identity headers that are not believed", () => {
  /** Reads the counter of ignored requests. */
  async function ignoredIn(app: TestApp): Promise<Record<string, number>> {
    const key = await app.keyWith("read:analytics");
    const families = readExposition((await app.call("/metrics", { key })).text);
    const family = families.get("allclear_identity_headers_ignored_total");
    return Object.fromEntries(
      (family?.samples ?? []).map(({ labels, value }) => [labels["reason"] ?? "", value]),
    );
  }

  test("those of another peer are ignored, counted, and reported once a minute", async () => {
    await using app = await createProxiedApp();
    expect(await ignoredIn(app)).toEqual({ peer: 0, secret: 0 });
    for (const from of [OTHER_NETWORK, "203.0.113.7", "::1", "127.0.0.1", "nowhere"]) {
      await expectNothing(app, named("bob"), from);
    }
    const warnings = () => app.logged.filter(({ level }) => level === 40);
    expect(await ignoredIn(app)).toEqual({ peer: 5, secret: 0 });
    expect(warnings()).toMatchObject([{ peer: OTHER_NETWORK }]);
    await app.clock.advance(MINUTE_MS);
    await expectNothing(app, named("bob"), "203.0.113.7");
    expect(warnings()).toMatchObject([{ peer: OTHER_NETWORK }, { peer: "203.0.113.7" }]);
  });

  test("those of a client behind another proxy are ignored, even if the forwarded address is that of the proxy", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_TRUSTED_PROXIES: "192.0.2.1" });
    const headers = { ...named("bob"), "x-forwarded-for": PROXY };
    await expectNothing(app, headers, "192.0.2.1");
  });

  test("those of the proxy count for a client whose address it forwards", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_TRUSTED_PROXIES: PROXY });
    const headers = { ...named("bob"), "x-forwarded-for": "203.0.113.9" };
    expect((await app.call("/admin", { from: PROXY, headers })).status).toBe(200);
    const from = `::ffff:${PROXY}`;
    expect((await app.call("/admin", { from, headers })).status).toBe(200);
  });

  test("those that another node passes on are ignored, for any client", async () => {
    await using app = await createProxiedApp({
      ALLCLEAR_IDENTITY_PROXY: "10.0.0.0/28,127.0.0.1",
      ALLCLEAR_IDENTITY_PROXY_NO_SECRET: "on",
    });
    const before = app.ctx.db.changes;
    for (const ip of [PROXY, "127.0.0.1"]) {
      const passedOn = { ip, network: ip, isDoubtful: false };
      const request = requestOf(app.ctx, "/admin", { headers: named("bob") });
      const answer = await app.app.handle(request, () => passedOn);
      expect(answer.status).toBe(401);
    }
    expect(app.ctx.db.changes).toBe(before);
    expect(await ignoredIn(app)).toEqual({ peer: 2, secret: 0 });
  });

  test("those without the secret, or with another, are ignored and counted", async () => {
    await using app = await createProxiedApp();
    for (const secret of ["", "another-secret-of-32-characters", `${PROXY_SECRET}x`]) {
      await expectNothing(app, named("bob", { secret }));
    }
    expect(await ignoredIn(app)).toEqual({ peer: 0, secret: 3 });
    expect(JSON.stringify(app.logged)).not.toContain(PROXY_SECRET);
    expect(JSON.stringify(app.logged)).not.toContain("another-secret");
  });

  test("those from this machine need no secret with the option, and those of other proxies do", async () => {
    await using app = await createProxiedApp({
      ALLCLEAR_IDENTITY_PROXY: "127.0.0.0/8,::1,10.0.0.0/28",
      ALLCLEAR_IDENTITY_PROXY_NO_SECRET: "on",
    });
    const headers = named("bob", { secret: "" });
    await expectNothing(app, headers);
    for (const from of ["127.0.0.1", "::1"]) {
      expect((await app.call("/admin", { from, headers })).status).toBe(200);
    }
    await using strict = await createProxiedApp({ ALLCLEAR_IDENTITY_PROXY: "127.0.0.1" });
    await expectNothing(strict, headers, "127.0.0.1");
  });

  test("those from this machine to a host of another site need the secret, since a browser may have sent them", async () => {
    await using app = await createProxiedApp({
      ALLCLEAR_IDENTITY_PROXY: "127.0.0.1",
      ALLCLEAR_IDENTITY_PROXY_NO_SECRET: "on",
      ALLCLEAR_IDENTITY_PROXY_SECRET: PROXY_SECRET,
      ALLCLEAR_ROLES: "*=owner",
      ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER: "off",
    });
    const from = "127.0.0.1";
    const headers = { ...named("bob", { secret: "" }), "sec-fetch-site": "same-origin" };
    const before = app.ctx.db.changes;
    const hosts = [
      "evil.example",
      "evil.example:8080",
      "127.0.0.1.evil.example",
      "status.test.evil",
    ];
    for (const host of hosts) {
      expectProblem(await app.call("/admin", { from, headers, host }), "sign_in_required");
      const form = { form: "once", ...KEY_FIELDS };
      const posted = await app.call(NEW_KEY, { from, headers, host, form });
      expectProblem(posted, "sign_in_required");
    }
    expect(app.ctx.db.changes).toBe(before);
    expect(await ignoredIn(app)).toEqual({ peer: 0, secret: 2 * hosts.length });
    for (const host of ["status.test", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "nas"]) {
      const answer = await app.call("/admin", { from, headers, host });
      expect([host, answer.status]).toEqual([host, 200]);
    }
    const proven = await app.call("/admin", { from, headers: named("bob"), host: "evil.example" });
    expect(proven.status).toBe(200);
  });

  test.each([
    ["the user", { ...named("bob"), "remote-user": "bob, eve" }],
    ["the e-mail", { ...named("bob"), "remote-email": `${BOB}, eve@northwind.example` }],
    [
      "the secret",
      { ...named("bob"), "allclear-proxy-secret": `${PROXY_SECRET}, ${PROXY_SECRET}` },
    ],
  ])("a comma in %s refuses requests to every path", async (_what, headers) => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "*=admin" });
    const session = await signIn(app, "owner@example.com");
    const before = app.ctx.db.changes;
    for (const path of ["/admin", "/admin/sign-in", "/admin/settings/keys"]) {
      const answer = await app.call(path, { from: PROXY, headers, session });
      expect(expectProblem(answer, "invalid_request").detail).toContain("comma");
    }
    const form = { name: "x" };
    expectProblem(await app.call(NEW_KEY, { from: PROXY, headers, form }), "invalid_request");
    expect(app.ctx.db.changes).toBe(before);
    // Headers from other addresses are ignored.
    expect((await app.call("/admin", { headers, session })).status).toBe(200);
  });

  test.each([
    ["is too long", "b".repeat(256)],
    ["is no UTF-8", "b\xf6b"],
    ["has a bidirectional override", Buffer.from("b\u202eob").toString("latin1")],
  ])("a name that %s refuses the request", async (_what, name) => {
    await using app = await createProxiedApp();
    const answer = await app.call("/admin", { from: PROXY, headers: named(name, { email: BOB }) });
    expectProblem(answer, "invalid_request");
  });

  test("an empty name is none", async () => {
    await using app = await createProxiedApp();
    await expectNothing(app, named("", { email: BOB }));
  });
});

describe("identity headers outside of the dashboard", () => {
  test("the API neither reads nor counts them, with or without a key", async () => {
    await using app = await createProxiedApp({ ALLCLEAR_ROLES: "*=owner" });
    await app.page();
    const key = await app.keyWith("read:status");
    for (const headers of [named("bob"), { ...named("bob"), "remote-user": "bob, eve" }]) {
      expectProblem(await app.call("/api/v1/key", { from: PROXY, headers }), "missing_key");
      const form = { page: "acme", name: "Down" };
      const post = { from: PROXY, headers, json: form, method: "POST" };
      expectProblem(await app.call("/api/v1/incidents", post), "missing_key");
      for (const path of ["/api/v1/status/acme", "/api/v1/incidents", "/api/v1/monitors"]) {
        const plain = await app.call(path, { key, from: PROXY });
        const withHeaders = await app.call(path, { key, from: PROXY, headers });
        expect([withHeaders.status, withHeaders.text.replace(/req_\w+/g, "")]).toEqual([
          plain.status,
          plain.text.replace(/req_\w+/g, ""),
        ]);
        expect(withHeaders.headers.get("set-cookie")).toBeNull();
      }
    }
    await app.call("/api/v1/key", { headers: named("bob") });
    expect(signedInAs(app)).toEqual([]);
    expect(app.logged.filter(({ level }) => level === 40)).toEqual([]);
  });

  test("every route for keys answers the same with them, with no key and with one of each scope", async () => {
    await using app = await createProxiedApp({
      ALLCLEAR_ROLES: "*=owner",
      ALLCLEAR_PUBLIC_RATE_LIMIT: "10000",
    });
    await app.app.loadRoutes();
    await app.page();
    const keys = [undefined, ...(await Promise.all(SCOPE_NAMES.map((name) => app.keyWith(name))))];
    const routes = app.app.routes.routes.filter(({ path, operation }) => {
      const { access } = operation;
      return access.kind === "key" && path !== "/metrics" && path !== "/api/v1/key";
    });
    expect(routes.length).toBeGreaterThan(30);
    const before = app.audit();
    for (const { method, path } of routes) {
      const url = path.replace(":slug", "acme").replaceAll(/:\w+/g, "none");
      for (const key of keys) {
        const answerWith = async (headers: Record<string, string>) => {
          const answer = await app.call(url, { method, key, headers, from: PROXY });
          return [answer.status, answer.text.replaceAll(/req_\w+/g, "")];
        };
        expect([url, ...(await answerWith(named("bob")))]).toEqual([
          url,
          ...(await answerWith({})),
        ]);
      }
    }
    expect(app.audit()).toEqual(before);
    expect(signedInAs(app)).toEqual([]);
  });

  test("public and private pages do not read them", async () => {
    await using app = await createProxiedApp();
    await app.page();
    await app.page({ slug: "inner", visibility: "private" });
    const headers = { ...named("bob"), ...HTML };
    expect((await app.call("/status/acme", { from: PROXY, headers })).status).toBe(200);
    expect((await app.call("/status/inner", { from: PROXY, headers })).status).toBe(404);
    expect(signedInAs(app)).toEqual([]);
  });

  test("all routes that need a session are below /admin, where the proxy is heard", async () => {
    await using app = await createTestApp({ dashboard: true });
    const paths = app.app.routes.routes
      .filter(({ operation }) => operation.access.kind === "session")
      .map(({ path }) => path);
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter((path) => !/^\/admin(\/|$)/.test(path))).toEqual([]);
  });
});

describe("identity headers on the wire", () => {
  /** Serves an installation on a port of loopback, which is the network of the proxy. */
  async function serve() {
    const app = await createProxiedApp({
      ALLCLEAR_IDENTITY_PROXY: "127.0.0.1",
      ALLCLEAR_BASE_URL: "http://nas",
    });
    const server: Bun.Server<undefined> = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => app.app.handle(request, (of) => server.requestIP(of)?.address ?? ""),
    });
    return {
      app,
      open: (...lines: string[]) =>
        rawRequest(Number(server.port), [
          "GET /admin HTTP/1.1",
          "Host: nas",
          `Allclear-Proxy-Secret: ${PROXY_SECRET}`,
          ...lines,
        ]),
      async [Symbol.asyncDispose]() {
        await server.stop(true);
        await app[Symbol.asyncDispose]();
      },
    };
  }

  test("a header that is sent twice refuses the request", async () => {
    await using served = await serve();
    for (const lines of [
      ["Remote-User: bob", "Remote-User: eve", `Remote-Email: ${BOB}`],
      ["Remote-User: bob", `Remote-Email: ${BOB}`, "REMOTE-USER: bob"],
      ["Remote-User: bob", `Remote-Email: ${BOB}`, "Remote-Email: eve@northwind.example"],
      ["Remote-User: bob", `Remote-Email: ${BOB}`, `Allclear-Proxy-Secret: ${PROXY_SECRET}`],
    ]) {
      expect((await served.open(...lines))?.status).toBe(400);
    }
    expect(signedInAs(served.app)).toEqual([]);
    expect((await served.open("Remote-User: bob", `Remote-Email: ${BOB}`))?.status).toBe(200);
  });

  test("a name in UTF-8 is read as such", async () => {
    await using served = await serve();
    const name = Buffer.from("Jürgen").toString("latin1");
    const answer = await served.open(`Remote-User: ${name}`, `Remote-Email: ${BOB}`);
    expect(answer?.status).toBe(200);
    expect(findUserByEmail(served.app.ctx.db, BOB)?.name).toBe("Jürgen");
  });
});
