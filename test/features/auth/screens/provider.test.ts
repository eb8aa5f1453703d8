import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import { listIdentitiesOf } from "../../../../src/features/users/store";
import { listUsers, setRole } from "../../../../src/features/users/users";
import { disableUser, enableUser, findUserByEmail } from "../../../../src/features/users/users";
import {
  inviteUser,
  issuePasswordLink,
  linkPath,
} from "../../../../src/features/users/invitations";
import { CLI_ACTOR, type Role } from "../../../../src/base/actor";
import { createTestApp, type Answer, type TestApp } from "../../../support/app";
import { BEGIN, BrowserClient } from "../../../support/browser-client";
import { createTestClock, TEST_START } from "../../../support/clock";
import {
  ACCOUNT,
  isSignedIn,
  PASSWORD,
  trySignIn,
  userWithPassword,
} from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { CLIENT_SECRET, type FakeProvider, startFakeProvider } from "../../../support/oidc";

const ADA = "ada@northwind.example";

let provider: FakeProvider;
let plainPerson: Record<string, unknown>;
let now = () => TEST_START;

beforeAll(async () => {
  provider = await startFakeProvider(() => now());
  plainPerson = provider.person;
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  provider.person = plainPerson;
  provider.userInfo = {};
  provider.callback = () => {};
  provider.requests.length = 0;
  provider.issued.length = 0;
});

/** Creates an installation with the provider and an owner who has a password. */
async function appWith(env: Record<string, string> = {}): Promise<TestApp> {
  const clock = createTestClock();
  now = clock.now;
  const app = await createTestApp({ clock, env: { ...provider.env, ...env } });
  await userWithPassword(app, "owner@example.com");
  return app;
}

const usersOf = (app: TestApp) =>
  listUsers(app.ctx.db)
    .map(({ email, role }) => `${email} ${role}`)
    .toReversed();

/** Returns the reasons of sign-ins that were not completed. */
const reasonsOf = (app: TestApp) =>
  app.logged
    .filter(({ msg }) => msg === "a sign-in with the provider was not completed")
    .map(({ reason }) => String(reason));

/** Expects the page of a failure, without a session, and returns the reason and the remedy in the log. */
function expectFailure(app: TestApp, answer: Answer, client: BrowserClient): string {
  expect(answer.status).toBeOneOf([400, 403]);
  expect(readHtml(answer.text).texts("h1")).toEqual(["Sign-in was not completed"]);
  expect(client.session).toBeUndefined();
  const line = app.logged.findLast(({ reason }) => reason !== undefined);
  expect(answer.text).toContain(String(line?.["request"]));
  return [line?.["reason"], line?.["remedy"]].filter(Boolean).join(". ");
}

describe("a sign-in with the provider", () => {
  test("creates a viewer with a verified e-mail at the first time, and finds the user later", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    const answer = await client.signIn(provider);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin"]);
    expect(usersOf(app)).toEqual(["owner@example.com owner", `${ADA} viewer`]);
    expect(findUserByEmail(app.ctx.db, ADA)).toMatchObject({
      name: "Ada Lovelace",
      has_password: false,
    });
    expect(await isSignedIn(app, client.session ?? "")).toBe(true);
    expect(client.flow).toBeUndefined();
    expect(app.audit().slice(-2)).toMatchObject([
      {
        action: "user.create",
        summary: `Created the user “Ada Lovelace” (${ADA}), viewer, who signed in with Northwind`,
      },
      { action: "user.sign_in", summary: "“Ada Lovelace” signed in with Northwind" },
    ]);
    const again = new BrowserClient(app);
    await again.signIn(provider);
    expect(usersOf(app)).toHaveLength(2);
    expect(await isSignedIn(app, again.session ?? "")).toBe(true);
  });

  test("asks the provider for a code with PKCE, state and nonce, and proves to have asked", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    const address = new URL(await client.begin());
    expect(address.origin).toBe(provider.issuer);
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      client_id: "allclear",
      response_type: "code",
      redirect_uri: "https://status.test/admin/sign-in/callback",
      scope: "openid profile email",
      code_challenge_method: "S256",
    });
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(address.searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    }
    await client.open(await provider.authorize(address.href));
    const token = provider.requests.find(({ path }) => path === "/token");
    expect(token?.form.get("code_verifier")).toMatch(/^[\w-]{43}$/);
    expect(token?.headers.get("authorization")).toStartWith("Basic ");
    expect(client.session).toBeDefined();
  });

  test("beginning writes nothing", async () => {
    await using app = await appWith();
    const before = app.ctx.db.changes;
    const client = new BrowserClient(app);
    await client.begin();
    expect(client.flow).toBeDefined();
    expect(app.ctx.db.changes).toBe(before);
  });

  test("its session ends after 12 hours, though it is used", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    await client.signIn(provider);
    for (let hour = 1; hour < 12; hour++) {
      await app.clock.advance(HOUR_MS);
      expect(await isSignedIn(app, client.session ?? "")).toBe(true);
    }
    await app.clock.advance(HOUR_MS);
    expect(await isSignedIn(app, client.session ?? "")).toBe(false);
  });

  test("replaces the earlier session of the browser by one with another token", async () => {
    await using app = await appWith();
    const planted = await app.signedIn("viewer");
    const client = new BrowserClient(app, planted);
    await client.signIn(provider);
    expect(client.session).not.toBe(planted);
    expect(await isSignedIn(app, planted)).toBe(false);
    expect(await isSignedIn(app, client.session ?? "")).toBe(true);
  });

  test("opens the screen that was asked for, and no other site", async () => {
    await using app = await appWith();
    const paths = [
      ["/admin/incidents?status=open", "/admin/incidents?status=open"],
      ["//evil.example", "/admin"],
      ["https://evil.example/admin", "/admin"],
      ["/admin/../status/x", "/admin"],
      ["/\\evil.example", "/admin"],
      ["/admin/sign-out", "/admin"],
      [`/admin/search?q=${"x".repeat(1_000)}`, "/admin"],
    ] as const;
    for (const [next, opened] of paths) {
      const client = new BrowserClient(app);
      const answer = await client.signIn(provider, `${BEGIN}?next=${encodeURIComponent(next)}`);
      expect([next, answer.headers.get("location")]).toEqual([next, opened]);
    }
  });

  test("that begins at another host is led to the public address first, once", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    const away = await client.open(`${BEGIN}?next=/admin/incidents`, { host: "10.0.0.7:8080" });
    const moved = "https://status.test/admin/sign-in/provider?next=%2Fadmin%2Fincidents&moved=yes";
    expect([away.status, away.headers.get("location")]).toEqual([303, moved]);
    expect(client.flow).toBeUndefined();
    // A proxy may replace the host of every request.
    const path = moved.slice("https://status.test".length);
    const begun = await client.open(path, { host: "10.0.0.7:8080" });
    expect(begun.headers.get("location")).toStartWith(`${provider.issuer}/authorize?`);
  });

  test("is offered by a link on the sign-in screen, and absent without a provider", async () => {
    await using app = await appWith();
    const page = readHtml((await app.call("/admin/sign-in?next=/admin/incidents")).text);
    const at = page.texts("a").indexOf("Sign in with Northwind");
    expect(page.attributes("a", "href")[at]).toBe(`${BEGIN}?next=%2Fadmin%2Fincidents`);
    await using plain = await createTestApp();
    await plain.signedIn();
    expect((await plain.call("/admin/sign-in")).text).not.toContain("Sign in with");
    for (const path of [BEGIN, "/admin/sign-in/callback?code=x&state=y"]) {
      expect((await plain.call(path)).status).toBe(404);
    }
  });

  test("in another tab keeps a form whose session had ended, which its page then continues", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: "*=editor" });
    await app.page();
    const client = new BrowserClient(app);
    const refused = await client.open("/admin/incidents/new", { form: { name: "Slow pages" } });
    expect(refused.status).toBe(401);
    const page = readHtml(refused.text);
    const at = page.texts("a").indexOf("Sign in with Northwind");
    expect(page.attributes("a.button", "target")).toEqual(["_blank"]);
    expect(page.attributes("a", "href")[at]).toBe(`${BEGIN}?next=%2Fadmin%2Fincidents%2Fnew`);
    const hidden = page.controls.filter(({ type }) => type === "hidden");
    const form = {
      ...Object.fromEntries(hidden.map(({ name, value }) => [name, value])),
      continue: "yes",
    };
    const early = await client.open("/admin/sign-in?form=kept", { form });
    expect([early.status, early.text.includes("You are not signed in yet")]).toEqual([422, true]);
    await client.signIn(provider);
    const kept = await client.open("/admin/sign-in?form=kept", { form });
    expect(readHtml(kept.text).texts("h1")).toEqual(["You are signed in"]);
    expect(kept.text).toContain("Slow pages");
  });

  test("works over plain HTTP", async () => {
    await using app = await appWith({ ALLCLEAR_BASE_URL: "http://status.test" });
    const client = new BrowserClient(app);
    await client.signIn(provider);
    expect([...client.cookies.keys()]).toEqual(["allclear_session"]);
    expect(await isSignedIn(app, client.session ?? "")).toBe(true);
  });

  test("leaves no token, code or secret in the log, the audit log or a page", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    const pages = [
      await client.signIn(provider),
      await client.open("/admin/settings/account"),
      await client.signIn({ authorize: async () => "/admin/sign-in/callback?code=code-x&state=y" }),
    ];
    expect(provider.issued.length).toBeGreaterThan(2);
    const written = JSON.stringify([app.logged, app.audit(), pages.map(({ text }) => text)]);
    for (const secret of [CLIENT_SECRET, "code-x", ...provider.issued]) {
      expect(written).not.toContain(secret);
    }
  });

  test("keeps the flow cookie unreadable: it names neither state nor verifier", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    const state = new URL(await client.begin()).searchParams.get("state") ?? "";
    const bytes = Buffer.from(client.flow ?? "", "base64url");
    expect(bytes.length).toBeGreaterThan(100);
    expect(bytes.includes(state)).toBe(false);
    expect(bytes.includes("verifier")).toBe(false);
  });
});

describe("a callback", () => {
  test("works once, also if it is sent 20 times at once", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    const back = await provider.authorize(await client.begin());
    const { flow = "" } = client;
    const copies = Array.from({ length: 20 }, () => {
      const copy = new BrowserClient(app);
      copy.cookies.set("__Host-allclear_flow", flow);
      return copy;
    });
    const answers = await Promise.all(copies.map((copy) => copy.open(back)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      303,
      ...Array.from({ length: 19 }, () => 400),
    ]);
    expect(copies.filter(({ session }) => session !== undefined)).toHaveLength(1);
    expect(provider.requests.filter(({ path }) => path === "/token")).toHaveLength(1);
    expect(reasonsOf(app)).toContain("The sign-in was finished before.");
  });

  test("with the state of another browser is refused, and leaves that one's sign-in alone", async () => {
    await using app = await appWith();
    const [ada, mallory] = [new BrowserClient(app), new BrowserClient(app)];
    await ada.begin();
    const back = await provider.authorize(await mallory.begin());
    const answer = await ada.open(back);
    expect(expectFailure(app, answer, ada)).toStartWith("The browser has begun no sign-in");
    expect(ada.flow).toBeDefined();
    expectFailure(app, await new BrowserClient(app).open(back), new BrowserClient(app));
    expect(provider.requests.filter(({ path }) => path === "/token")).toEqual([]);
  });

  test("without a state, or with a forged cookie, is refused", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    client.cookies.set("__Host-allclear_flow", Buffer.from("{}").toString("base64url"));
    for (const query of ["", "?code=x", "?code=x&state=", "?state=undefined"]) {
      const answer = await client.open(`/admin/sign-in/callback${query}`);
      expectFailure(app, answer, client);
    }
  });

  test("that takes longer than 10 minutes is refused", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    const back = await provider.authorize(await client.begin());
    await app.clock.advance(10 * MINUTE_MS);
    const reason = expectFailure(app, await client.open(back), client);
    expect(reason).toBe("The sign-in took longer than 10 minutes.");
  });

  test("that says that the user declined is refused, with the provider's word in the log", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    provider.callback = (query) => {
      query.delete("code");
      query.set("error", "access_denied");
      query.set("error_description", "The user\u202e said no");
    };
    const reason = expectFailure(app, await client.signIn(provider), client);
    expect(reason).toBe("The provider refused: access_denied (The user said no).");
  });
});

describe("a person", () => {
  const refused = async (person: object, env: Record<string, string> = {}) => {
    await using app = await appWith(env);
    await userWithPassword(app, "taken@northwind.example", "editor");
    provider.person = { ...plainPerson, ...person };
    const before = usersOf(app);
    const client = new BrowserClient(app);
    const answer = await client.signIn(provider);
    const reason = expectFailure(app, answer, client);
    expect(usersOf(app)).toEqual(before);
    expect(answer.text).toContain("Northwind knows you");
    return reason;
  };

  test.each([
    ["without an e-mail", { email: undefined }, {}, /e-mail is not known.*Invite|invite/],
    ["with an unverified e-mail", { email_verified: false }, {}, /e-mail is not verified/],
    ["whose e-mail is not said to be verified", { email_verified: undefined }, {}, /not verified/],
    [
      "with an e-mail that is said to be unverified, where verification is assumed",
      { email_verified: false },
      { ALLCLEAR_OIDC_EMAIL_VERIFIED: "assume" },
      /e-mail is not verified/,
    ],
    [
      "with the e-mail of a user",
      { email: "Taken@northwind.example" },
      {},
      /another user has the e-mail.*Account/,
    ],
    [
      "with an e-mail that no user can have",
      { email: "not an address" },
      {},
      /no address that a user can have/,
    ],
    [
      "who was not invited",
      {},
      { ALLCLEAR_CREATE_USERS: "off" },
      /new users are not created.*Invite/,
    ],
    [
      "without a matching group",
      { groups: ["cooks"] },
      { ALLCLEAR_ROLES: "sre=admin" },
      /no group of the user has a role/,
    ],
  ] as const)("%s is refused", async (_, person, env, reason) => {
    expect(await refused(person, env)).toMatch(reason);
  });

  test("who is refused is named in the log, with the reason and what can be done apart", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: "sre=admin" });
    provider.person = { ...plainPerson, groups: ["cooks"] };
    await new BrowserClient(app).signIn(provider);
    expect(app.logged.findLast(({ subject }) => subject !== undefined)).toMatchObject({
      msg: "a sign-in with the provider was not completed",
      subject: "00u-ada",
      email: ADA,
      reason: "no group of the user has a role",
      remedy: "Add one of the groups to ALLCLEAR_ROLES, or the user to a group that has a role.",
    });
  });

  test("whose e-mail is not said to be verified is let in where that is assumed", async () => {
    await using app = await appWith({ ALLCLEAR_OIDC_EMAIL_VERIFIED: "assume" });
    provider.person = { ...plainPerson, email_verified: undefined };
    await new BrowserClient(app).signIn(provider);
    expect(usersOf(app)).toContain(`${ADA} viewer`);
  });

  test("with a name that no user can have gets the name of the e-mail", async () => {
    await using app = await appWith();
    provider.person = { ...plainPerson, name: "x".repeat(300) };
    await new BrowserClient(app).signIn(provider);
    expect(findUserByEmail(app.ctx.db, ADA)?.name).toBe("ada");
  });

  test("who is disabled here stays out, and is let in once enabled", async () => {
    await using app = await appWith();
    await new BrowserClient(app).signIn(provider);
    const id = findUserByEmail(app.ctx.db, ADA)?.id ?? "";
    await app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    const client = new BrowserClient(app);
    expect(expectFailure(app, await client.signIn(provider), client)).toContain("disabled here");
    await app.ctx.db.write((tx) => enableUser(app.ctx, tx, id, CLI_ACTOR));
    await client.signIn(provider);
    expect(client.session).toBeDefined();
  });

  test("keeps the user when the e-mail changes at the provider", async () => {
    await using app = await appWith();
    await new BrowserClient(app).signIn(provider);
    provider.person = { ...plainPerson, email: "countess@northwind.example" };
    await new BrowserClient(app).signIn(provider);
    expect(usersOf(app)).toEqual(["owner@example.com owner", `${ADA} viewer`]);
    const id = findUserByEmail(app.ctx.db, ADA)?.id ?? "";
    expect(listIdentitiesOf(app.ctx.db, { userId: id })).toMatchObject([
      { label: "countess@northwind.example" },
    ]);
  });

  test("before the set-up is refused, unless a group makes an owner", async () => {
    const env = { ...provider.env, ALLCLEAR_ROLES: "boss=owner; *=viewer" };
    now = () => TEST_START;
    await using app = await createTestApp({ env });
    const client = new BrowserClient(app);
    const reason = expectFailure(app, await client.signIn(provider), client);
    expect(reason).toContain("not set up yet");
    provider.person = { ...plainPerson, groups: "boss" };
    await client.signIn(provider);
    expect(usersOf(app)).toEqual([`${ADA} owner`]);
  });
});

describe("a person with the e-mail of a user", () => {
  const LINK = { ALLCLEAR_OIDC_LINK_BY_EMAIL: "on" };

  async function attempt(app: TestApp, person: object = {}) {
    provider.person = { ...plainPerson, ...person };
    const client = new BrowserClient(app);
    const answer = await client.signIn(provider);
    return { client, answer };
  }

  test("is connected with that user where that is on", async () => {
    await using app = await appWith(LINK);
    const { id } = await userWithPassword(app, ADA, "editor");
    const { client } = await attempt(app);
    expect(client.session).toBeDefined();
    expect(usersOf(app)).toEqual(["owner@example.com owner", `${ADA} editor`]);
    expect(listIdentitiesOf(app.ctx.db, { userId: id })).toMatchObject([
      { issuer: provider.issuer, label: ADA },
    ]);
    expect(app.audit().map(({ action }) => action)).toContain("user.connect");
  });

  test.each([
    ["unverified", { email_verified: false }, LINK],
    [
      "not said to be verified, also where that is assumed",
      { email_verified: undefined },
      { ...LINK, ALLCLEAR_OIDC_EMAIL_VERIFIED: "assume" },
    ],
  ])("is refused if the e-mail is %s", async (_, person, env) => {
    await using app = await appWith(env);
    await userWithPassword(app, ADA, "editor");
    const { client, answer } = await attempt(app, person);
    expect(expectFailure(app, answer, client)).toContain("another user has the e-mail");
  });

  test("is refused if the user has another identity", async () => {
    await using app = await appWith(LINK);
    await userWithPassword(app, ADA, "editor");
    await attempt(app);
    const { client, answer } = await attempt(app, { sub: "another" });
    expect(expectFailure(app, answer, client)).toContain("another user has the e-mail");
  });
});

describe("roles by groups", () => {
  const ROLES = "sre=admin; support=editor; cn=boss,dc=x=owner; *=viewer";

  async function signInAs(app: TestApp, groups: unknown, sub = "00u-ada") {
    provider.person = { ...plainPerson, groups, sub, email: `${sub}@northwind.example` };
    const client = new BrowserClient(app);
    const answer = await client.signIn(provider);
    return { client, answer };
  }

  test("are given by the highest match, again at each sign-in", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: ROLES });
    const seen: unknown[] = [];
    for (const groups of [
      ["support", "sre"],
      ["support"],
      [],
      "sre",
      ["cn=boss,dc=x"],
      undefined,
    ]) {
      await signInAs(app, groups);
      seen.push(findUserByEmail(app.ctx.db, "00u-ada@northwind.example")?.role);
    }
    expect(seen).toEqual(["admin", "editor", "viewer", "admin", "owner", "viewer"]);
    expect(app.audit().filter(({ action }) => action === "user.role")).toHaveLength(5);
  });

  test("apply to the sessions that a user has", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: ROLES });
    const { client } = await signInAs(app, ["sre"]);
    expect((await client.open("/admin/settings/keys")).status).toBe(200);
    await signInAs(app, []);
    expect((await client.open("/admin/settings/keys")).status).toBe(403);
  });

  test("take the role from an owner, but not from the last one", async () => {
    await using app = await appWith({
      ALLCLEAR_ROLES: "*=viewer",
      ALLCLEAR_OIDC_LINK_BY_EMAIL: "on",
    });
    const roleOf = (email: string) => findUserByEmail(app.ctx.db, email)?.role;
    await userWithPassword(app, "00u-ada@northwind.example", "owner");
    await signInAs(app, []);
    expect(roleOf("00u-ada@northwind.example")).toBe("viewer");
    await app.ctx.db.write((tx) => {
      const id = findUserByEmail(tx, "00u-ada@northwind.example")?.id ?? "";
      setRole(app.ctx, tx, id, "owner", CLI_ACTOR);
      const other = findUserByEmail(tx, "owner@example.com")?.id ?? "";
      setRole(app.ctx, tx, other, "admin", CLI_ACTOR);
    });
    const { client } = await signInAs(app, []);
    expect(client.session).toBeDefined();
    expect(roleOf("00u-ada@northwind.example")).toBe("owner");
    expect(app.logged.map(({ msg }) => msg)).toContain(
      "the last owner keeps the role, which no group gives",
    );
  });

  test("are refused without a match, also for a user who has signed in before", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: "sre=admin" });
    await signInAs(app, ["sre"]);
    const { client, answer } = await signInAs(app, ["SRE"]);
    expect(expectFailure(app, answer, client)).toContain("no group of the user has a role");
  });

  test("are those of the claim that is named, and groups are asked for", async () => {
    const env = {
      ALLCLEAR_ROLES: "sre=admin",
      ALLCLEAR_OIDC_GROUPS_CLAIM: "https://example.com/teams",
    };
    await using app = await appWith(env);
    provider.person = { ...plainPerson, groups: [], "https://example.com/teams": ["sre"] };
    const client = new BrowserClient(app);
    const address = new URL(await client.begin());
    expect(address.searchParams.get("scope")).toBe("openid profile email groups");
    await client.open(await provider.authorize(address.href));
    expect(findUserByEmail(app.ctx.db, ADA)?.role).toBe("admin");
  });

  test("are never synchronised where none are set", async () => {
    await using app = await appWith();
    await signInAs(app, ["owner"]);
    const email = "00u-ada@northwind.example";
    await app.ctx.db.write((tx) =>
      setRole(app.ctx, tx, findUserByEmail(tx, email)?.id ?? "", "editor", CLI_ACTOR),
    );
    await signInAs(app, ["owner"]);
    expect(findUserByEmail(app.ctx.db, email)?.role).toBe("editor");
  });

  test("that the provider has cut are refused, and named in the log", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: "*=viewer" });
    provider.person = { ...plainPerson, _claim_names: { groups: "src1" }, _claim_sources: {} };
    const client = new BrowserClient(app);
    const reason = expectFailure(app, await client.signIn(provider), client);
    expect(reason).toContain("left out the claim groups (_claim_names)");
    await using without = await appWith();
    const free = new BrowserClient(without);
    await free.signIn(provider);
    expect(free.session).toBeDefined();
  });
});

describe("UserInfo", () => {
  const asked = () => provider.requests.filter(({ path }) => path === "/userinfo").length;

  test("is asked only for claims that the ID token lacks", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: "sre=admin; *=viewer" });
    provider.person = { ...plainPerson, groups: [] };
    provider.userInfo = { groups: ["sre"] };
    await new BrowserClient(app).signIn(provider);
    expect([asked(), findUserByEmail(app.ctx.db, ADA)?.role]).toEqual([0, "viewer"]);
    provider.person = plainPerson;
    await new BrowserClient(app).signIn(provider);
    expect([asked(), findUserByEmail(app.ctx.db, ADA)?.role]).toEqual([1, "admin"]);
  });

  test("gives e-mail and verification together, never one of them", async () => {
    await using app = await appWith();
    provider.person = { sub: "00u-ada", name: "Ada", email: ADA };
    provider.userInfo = { email: "other@northwind.example", email_verified: true };
    await new BrowserClient(app).signIn(provider);
    expect(usersOf(app)).toContain("other@northwind.example viewer");
  });

  test("about another subject is refused", async () => {
    await using app = await appWith();
    provider.person = { sub: "00u-ada" };
    provider.userInfo = { sub: "00u-eve", email: ADA, email_verified: true, name: "Eve" };
    const client = new BrowserClient(app);
    const reason = expectFailure(app, await client.signIn(provider), client);
    expect(reason).toBe("UserInfo is about another subject than the ID token.");
  });
});

describe("an invitation", () => {
  async function invited(app: TestApp, role: Role = "editor", email = "ada@home.example") {
    const input = { email, name: "Ada", role };
    const { token, user } = await app.ctx.db.write((tx) =>
      inviteUser(app.ctx, tx, input, CLI_ACTOR),
    );
    return { path: linkPath("invite", token), id: user.id };
  }

  /** Returns the form that asks if an invitation for another e-mail is meant for the person. */
  function confirmationOf(answer: Answer): Record<string, string> {
    const page = readHtml(answer.text);
    expect([answer.status, page.texts("h1")]).toEqual([200, ["Is this invitation for you?"]]);
    return Object.fromEntries(page.controls.map(({ name, value }) => [name, value]));
  }

  test("is accepted with the provider, and works once", async () => {
    await using app = await appWith({ ALLCLEAR_CREATE_USERS: "off" });
    const { path, id } = await invited(app, "editor", ADA);
    const page = readHtml((await app.call(path)).text);
    const at = page.texts("a").indexOf("Join with Northwind");
    expect(page.attributes("a", "href")[at]).toBe(`${path}/provider`);
    const [client, late] = [new BrowserClient(app), new BrowserClient(app)];
    const begun = await late.begin(`${path}/provider`);
    expect((await client.signIn(provider, `${path}/provider`)).status).toBe(303);
    expect(usersOf(app)).toEqual(["owner@example.com owner", `${ADA} editor`]);
    expect(listIdentitiesOf(app.ctx.db, { userId: id })).toHaveLength(1);
    expect((await app.call(path)).status).toBe(404);
    provider.person = { ...plainPerson, sub: "00u-eve" };
    const answer = await late.open(await provider.authorize(begun));
    expect(expectFailure(app, answer, late)).toContain("invitation was used");
  });

  test("for another e-mail is accepted only after a question, which names both", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: "ops=admin; *=viewer" });
    provider.person = { ...plainPerson, groups: ["staff", "ops"] };
    const { path, id } = await invited(app);
    const client = new BrowserClient(app);
    const asked = await client.signIn(provider, `${path}/provider`);
    const form = confirmationOf(asked);
    expect([client.session, client.flow]).toEqual([undefined, undefined]);
    for (const email of [ADA, "ada@home.example"]) expect(asked.text).toContain(email);
    expect(readHtml(asked.text).attributes("a", "href")).toContain(path);
    expect(asked.headers.get("cache-control")).toBe("no-store");
    expect([listIdentitiesOf(app.ctx.db, { userId: id }), app.audit().at(-1)?.action]).toEqual([
      [],
      "user.invite",
    ]);
    const joined = await client.open(`${path}/provider`, { form });
    expect([joined.status, joined.headers.get("location")]).toEqual([303, "/admin"]);
    expect(await isSignedIn(app, client.session ?? "")).toBe(true);
    expect(usersOf(app)).toContain("ada@home.example admin");
    expect(
      app
        .audit()
        .slice(-3)
        .map(({ action }) => action),
    ).toEqual(["user.role", "user.connect", "user.sign_in"]);
    const again = new BrowserClient(app);
    const repeated = await again.open(`${path}/provider`, { form });
    expect(expectFailure(app, repeated, again)).toContain("invitation was used");
  });

  test("for the same e-mail, which the provider has not verified, is a question too", async () => {
    await using app = await appWith();
    provider.person = { ...plainPerson, email_verified: false };
    const { path } = await invited(app, "editor", ADA);
    confirmationOf(await new BrowserClient(app).signIn(provider, `${path}/provider`));
  });

  test("is confirmed for 10 minutes, for this invitation, and by nothing else that is sealed", async () => {
    await using app = await appWith();
    const { path } = await invited(app);
    const client = new BrowserClient(app);
    const form = confirmationOf(await client.signIn(provider, `${path}/provider`));
    const other = await invited(app, "admin", "root@home.example");
    await client.begin();
    for (const [at, pending] of [
      [other.path, form["pending"]],
      [path, client.flow],
      [path, "x"],
      [path, ""],
    ] as const) {
      const answer = await client.open(`${at}/provider`, { form: { pending: pending ?? "" } });
      expect(expectFailure(app, answer, client)).toContain("older than 10 minutes");
    }
    await app.clock.advance(10 * MINUTE_MS);
    const late = await client.open(`${path}/provider`, { form });
    expect(expectFailure(app, late, client)).toContain("older than 10 minutes");
    expect((await app.call(path)).status).toBe(200);
  });

  test("of a person whose groups have no role is refused without a question", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: "ops=admin" });
    const { path } = await invited(app);
    const client = new BrowserClient(app);
    const answer = await client.signIn(provider, `${path}/provider`);
    expect(expectFailure(app, answer, client)).toContain("no group of the user has a role");
  });

  test("connects no identity that belongs to another user, and stays valid", async () => {
    await using app = await appWith();
    await new BrowserClient(app).signIn(provider);
    const { path } = await invited(app);
    const client = new BrowserClient(app);
    const answer = await client.signIn(provider, `${path}/provider`);
    expect(expectFailure(app, answer, client)).toContain("belongs to another user");
    expect((await app.call(path)).status).toBe(200);
  });

  test("with an unknown token leads to no sign-in, at any host", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    for (const token of ["x".repeat(43), "x", "%0D%0AX-Evil:%20yes", "x".repeat(500)]) {
      for (const host of ["status.test", "10.0.0.7:8080"]) {
        const answer = await client.open(`/admin/join/${token}/provider`, { host });
        expect([token, answer.status, answer.headers.get("location")]).toEqual([token, 404, null]);
      }
    }
    expect(client.flow).toBeUndefined();
    expect(app.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  test("is no link for a new password, which leads to no sign-in", async () => {
    await using app = await appWith();
    const { id } = await userWithPassword(app, "eve@example.com", "editor");
    const { token } = await app.ctx.db.write((tx) => issuePasswordLink(app.ctx, tx, id, CLI_ACTOR));
    const answer = await app.call(`${linkPath("reset", token)}/provider`);
    expect(answer.status).toBe(404);
  });

  test("of a user who is connected does not let another person in, and gives no role of that person", async () => {
    await using app = await appWith({ ALLCLEAR_ROLES: "ops=owner; *=viewer" });
    const mallory = new BrowserClient(app);
    await mallory.signIn(provider);
    const id = findUserByEmail(app.ctx.db, ADA)?.id ?? "";
    const { token } = await app.ctx.db.write((tx) => issuePasswordLink(app.ctx, tx, id, CLI_ACTOR));
    const path = linkPath("invite", token);
    provider.person = { ...plainPerson, sub: "00u-olga", email: "olga@n.example", groups: ["ops"] };
    const olga = new BrowserClient(app);
    const answer = await olga.signIn(provider, `${path}/provider`);
    expect(expectFailure(app, answer, olga)).toContain("connected with another identity");
    expect(usersOf(app)).toEqual(["owner@example.com owner", `${ADA} viewer`]);
    expect(listIdentitiesOf(app.ctx.db, { userId: id })).toHaveLength(1);
    // The user's own identity accepts it, after which it is used.
    provider.person = plainPerson;
    expect((await new BrowserClient(app).signIn(provider, `${path}/provider`)).status).toBe(303);
    expect((await app.call(path)).status).toBe(404);
  });
});

describe("an account", () => {
  /** Signs in with the password, and returns the browser. */
  async function signedIn(app: TestApp, email = "owner@example.com"): Promise<BrowserClient> {
    const client = new BrowserClient(app);
    const form = { email, password: PASSWORD, next: "/admin" };
    await client.open("/admin/sign-in", { form });
    expect(client.session).toBeDefined();
    return client;
  }

  /** Sends the form to connect, and returns the address of the link to the provider. */
  async function beginConnecting(client: BrowserClient, password = PASSWORD) {
    const answer = await client.open(`${ACCOUNT}/connect`, { form: { password } });
    const page = readHtml(answer.text);
    const at = page.texts("a").indexOf("Continue to Northwind");
    return { answer, address: page.attributes("a", "href")[at] ?? "" };
  }

  /** Expects the page of an account that was not connected, and returns its first paragraph. */
  function expectNotConnected(app: TestApp, { text }: Answer): string[] {
    const page = readHtml(text);
    expect(page.texts("h1")).toEqual(["Not connected"]);
    const [why = "", inLog] = page.texts("p");
    const line = app.logged.findLast(({ reason }) => reason !== undefined);
    expect(inLog).toBe(`The log of the server has the reason under ${String(line?.["request"])}.`);
    const at = page.texts("a").indexOf("Back to Account");
    expect(page.attributes("a", "href")[at]).toBe(ACCOUNT);
    return [why];
  }

  test("is connected after the password, and signs in with the provider then", async () => {
    await using app = await appWith();
    const client = await signedIn(app);
    const { answer, address } = await beginConnecting(client);
    expect(answer.status).toBe(200);
    const back = await client.open(await provider.authorize(address));
    expect(back.headers.get("location")).toBe(ACCOUNT);
    expect((await client.open(ACCOUNT)).text).toContain("You are connected with Northwind.");
    const other = new BrowserClient(app);
    await other.signIn(provider);
    expect((await other.open(ACCOUNT)).text).toContain("owner@example.com");
    expect(usersOf(app)).toEqual(["owner@example.com owner"]);
  });

  test("at another host is led to the public address to be connected, and begins nothing", async () => {
    await using app = await appWith();
    const client = await signedIn(app);
    const host = "10.0.0.7:8080";
    const page = readHtml((await client.open(ACCOUNT, { host })).text);
    const moved = `https://status.test${ACCOUNT}?moved=yes`;
    expect(page.attributes("a", "href")).toContain(moved);
    expect(page.attributes("form", "action")).not.toContain(`${ACCOUNT}/connect`);
    const form = { password: PASSWORD };
    const forced = await client.open(`${ACCOUNT}/connect`, { host, form });
    expect([forced.status, client.flow, provider.requests]).toEqual([409, undefined, []]);
    // A proxy may replace the host of every request, which a browser's Origin shows.
    const shown = readHtml((await client.open(`${ACCOUNT}?moved=yes`, { host })).text);
    expect(shown.attributes("form", "action")).toContain(`${ACCOUNT}/connect`);
    const headers = { origin: "https://status.test" };
    const begun = await client.open(`${ACCOUNT}/connect`, { host, form, headers });
    expect(begun.status).toBe(200);
    expect(client.flow).toBeDefined();
  });

  test("is not connected after a wrong password", async () => {
    await using app = await appWith();
    const client = await signedIn(app);
    const { answer } = await beginConnecting(client, "a wrong password");
    expect(answer.status).toBe(422);
    expect(client.flow).toBeUndefined();
    expect(provider.requests).toEqual([]);
  });

  test("is not connected by another session than the one that began it", async () => {
    await using app = await appWith();
    await userWithPassword(app, "eve@example.com", "editor");
    const client = await signedIn(app);
    const { address } = await beginConnecting(client);
    const eve = await signedIn(app, "eve@example.com");
    eve.cookies.set("__Host-allclear_flow", client.flow ?? "");
    const answer = await eve.open(await provider.authorize(address));
    expect([answer.status, ...expectNotConnected(app, answer)]).toEqual([
      400,
      "You are not connected with Northwind.",
    ]);
    expect(reasonsOf(app)).toEqual(["The session that began it has ended, or is another one."]);
    expect((await eve.open(ACCOUNT)).text).not.toContain("Connected as");
  });

  test("is not connected with the identity of another user, or with a second one", async () => {
    await using app = await appWith();
    await new BrowserClient(app).signIn(provider);
    const client = await signedIn(app);
    const first = await beginConnecting(client);
    const refused = await client.open(await provider.authorize(first.address));
    expect([refused.status, ...expectNotConnected(app, refused)]).toEqual([
      403,
      "You are not connected: the identity belongs to another user. That user can disconnect it in Account, or an owner in Settings → Users.",
    ]);
    expect(reasonsOf(app).at(-1)).toBe("the identity belongs to another user");
    provider.person = { ...plainPerson, sub: "00u-owner" };
    await client.open(await provider.authorize((await beginConnecting(client)).address));
    provider.person = { ...plainPerson, sub: "00u-second" };
    const second = await beginConnecting(client);
    const other = await client.open(await provider.authorize(second.address));
    expect([other.status, ...expectNotConnected(app, other)]).toEqual([
      403,
      "You are not connected: the user is connected with another identity. Disconnect that one first, in Account or in Settings → Users.",
    ]);
    expect(await isSignedIn(app, client.session ?? "")).toBe(true);
  });

  test("is not connected if the provider refuses, which only the log explains", async () => {
    await using app = await appWith();
    const client = await signedIn(app);
    const { address } = await beginConnecting(client);
    provider.callback = (query) => {
      query.delete("code");
      query.set("error", "access_denied");
    };
    const answer = await client.open(await provider.authorize(address));
    expect([answer.status, ...expectNotConnected(app, answer)]).toEqual([
      400,
      "You are not connected with Northwind.",
    ]);
    expect(answer.text).not.toContain("access_denied");
    expect(reasonsOf(app)).toEqual(["The provider refused: access_denied."]);
  });

  test("is disconnected, which ends the sessions of the provider and no others", async () => {
    await using app = await appWith();
    const client = await signedIn(app);
    await client.open(await provider.authorize((await beginConnecting(client)).address));
    const other = new BrowserClient(app);
    await other.signIn(provider);
    const id = findUserByEmail(app.ctx.db, "owner@example.com")?.id ?? "";
    const [identity] = listIdentitiesOf(app.ctx.db, { userId: id });
    const path = `${ACCOUNT}/disconnect/${identity?.id}`;
    expect((await client.open(path)).text).toContain("Disconnect ada@northwind.example?");
    expect((await client.open(path, { form: {} })).status).toBe(303);
    expect(await isSignedIn(app, other.session ?? "")).toBe(false);
    expect(await isSignedIn(app, client.session ?? "")).toBe(true);
    expect(listIdentitiesOf(app.ctx.db, { userId: id })).toEqual([]);
    expect(app.audit().at(-1)).toMatchObject({
      action: "user.disconnect",
      summary: `Disconnected “owner” from Northwind (${ADA})`,
    });
    const stranger = new BrowserClient(app);
    await stranger.signIn(provider);
    expect(usersOf(app)).toContain(`${ADA} viewer`);
  });

  test("without a password keeps its only identity, unless an owner removes it", async () => {
    await using app = await appWith();
    const client = new BrowserClient(app);
    await client.signIn(provider);
    const id = findUserByEmail(app.ctx.db, ADA)?.id ?? "";
    const [identity] = listIdentitiesOf(app.ctx.db, { userId: id });
    const own = await client.open(`${ACCOUNT}/disconnect/${identity?.id}`, { form: {} });
    expect(own.status).toBe(409);
    expect(await isSignedIn(app, client.session ?? "")).toBe(true);
    const owner = await signedIn(app);
    const path = `/admin/settings/users/${id}/disconnect/${identity?.id}`;
    expect((await owner.open(path, { form: {} })).status).toBe(303);
    expect(await isSignedIn(app, client.session ?? "")).toBe(false);
  });
});

describe("where only owners have passwords", () => {
  const OWNERS = { ALLCLEAR_LOCAL_SIGN_IN: "owners" };

  test("owners sign in with a password, and others are rejected like a wrong one", async () => {
    await using app = await appWith(OWNERS);
    await userWithPassword(app, "eve@example.com", "admin");
    expect((await trySignIn(app, "owner@example.com")).status).toBe(303);
    const rejected = await trySignIn(app, "eve@example.com");
    const wrong = await trySignIn(app, "eve@example.com", "a wrong password", {
      from: "203.0.113.8",
    });
    expect([rejected.status, wrong.status]).toEqual([422, 422]);
    const alert = (answer: Answer) => readHtml(answer.text).texts('[role="alert"]');
    expect(alert(rejected)).toEqual(alert(wrong));
  });

  test("an invitation sets no password, and is accepted with the provider", async () => {
    await using app = await appWith(OWNERS);
    const input = { email: ADA, name: "Ada", role: "editor" } as const;
    const { token } = await app.ctx.db.write((tx) => inviteUser(app.ctx, tx, input, CLI_ACTOR));
    const path = linkPath("invite", token);
    expect(readHtml((await app.call(path)).text).controls).toEqual([]);
    const forced = await app.call(path, { form: { name: "Ada", password: PASSWORD } });
    expect(forced.status).toBe(409);
    const client = new BrowserClient(app);
    await client.signIn(provider, `${path}/provider`);
    expect(client.session).toBeDefined();
    expect(findUserByEmail(app.ctx.db, ADA)?.has_password).toBe(false);
  });

  test("the account of others offers no password, and refuses a new one", async () => {
    await using app = await appWith(OWNERS);
    const { id } = await userWithPassword(app, "eve@example.com", "admin");
    await app.ctx.db.write((tx) => setRole(app.ctx, tx, id, "owner", CLI_ACTOR));
    const client = new BrowserClient(app);
    await client.open("/admin/sign-in", {
      form: { email: "eve@example.com", password: PASSWORD, next: "/admin" },
    });
    await app.ctx.db.write((tx) => setRole(app.ctx, tx, id, "admin", CLI_ACTOR));
    expect((await client.open(ACCOUNT)).text).toContain("Only owners have a password");
    const form = { current_password: PASSWORD, new_password: "another horse battery" };
    expect((await client.open(`${ACCOUNT}/password`, { form })).status).toBe(409);
  });

  test("owners create an invitation for others only while these have no identity", async () => {
    await using app = await appWith(OWNERS);
    await new BrowserClient(app).signIn(provider);
    const id = findUserByEmail(app.ctx.db, ADA)?.id ?? "";
    const session = await app.signedIn();
    const path = `/admin/settings/users/${id}`;
    expect((await app.call(path, { session })).text).not.toContain("Create invitation link");
    const [identity] = listIdentitiesOf(app.ctx.db, { userId: id });
    await app.call(`${path}/disconnect/${identity?.id}`, { session, form: {} });
    expect((await app.call(path, { session })).text).toContain("Create invitation link");
  });

  test("owners create no reset link for others", async () => {
    await using app = await appWith(OWNERS);
    const { id } = await userWithPassword(app, "eve@example.com", "admin");
    const session = await app.signedIn();
    const path = `/admin/settings/users/${id}`;
    expect((await app.call(path, { session })).text).not.toContain("Create reset link");
    expect((await app.call(`${path}/link`, { session, form: { form: "x" } })).status).toBe(409);
  });
});
