import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CLI_ACTOR, userActor } from "../../../../src/base/actor";
import { connectPerson } from "../../../../src/features/users/identities";
import { inviteUser, linkPath } from "../../../../src/features/users/invitations";
import { recoverUser } from "../../../../src/features/users/recovery";
import { listIdentitiesOf } from "../../../../src/features/users/store";
import { getUser } from "../../../../src/features/users/users";
import { createAccountMailSite, OWNER } from "../../../support/account-mail";
import { type Answer, createTestApp, type TestApp } from "../../../support/app";
import { BrowserClient } from "../../../support/browser-client";
import { createTestClock, TEST_START } from "../../../support/clock";
import { ACCOUNT, actionsOf, PASSWORD, userWithPassword } from "../../../support/dashboard";
import { readHtml } from "../../../support/html";
import { type FakeProvider, startFakeProvider } from "../../../support/oidc";
import { type Authenticator, CODE, enrol, SECOND_FACTOR } from "../../../support/second-factors";

const ADA = "ada@northwind.example";
const CONNECT = `${ACCOUNT}/connect`;
const ENDED = "This sign-in has ended. Sign in again.";

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
  provider.answer = () => undefined;
  provider.requests.length = 0;
});

/** An installation with the provider, an owner, and Ada, an admin whose identity is connected. */
async function withAda(env: Record<string, string> = {}) {
  const clock = createTestClock();
  now = clock.now;
  const app = await createTestApp({ clock, env: { ...provider.env, ...env } });
  await userWithPassword(app, "owner@example.com");
  const { id } = await userWithPassword(app, ADA, "admin");
  const person = {
    system: "Northwind",
    issuer: provider.issuer,
    subject: String(plainPerson["sub"]),
    email: ADA,
    isEmailVerified: true,
    canLinkByEmail: false,
    name: undefined,
    groups: [],
    timeZone: undefined,
  };
  await app.ctx.db.write((tx) =>
    connectPerson(app.ctx, tx, id, person, userActor(getUser(tx, id))),
  );
  return { app, id, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

/** Sends the right password, and returns the browser. */
async function withPassword(app: TestApp, email = ADA): Promise<BrowserClient> {
  const client = new BrowserClient(app);
  const form = { email, password: PASSWORD, next: "/admin" };
  expect((await client.open("/admin/sign-in", { form })).status).toBe(303);
  return client;
}

/** Sends password and code, and returns the browser with its session. */
async function withCode(
  app: TestApp,
  factor: Authenticator,
  email?: string,
): Promise<BrowserClient> {
  const client = await withPassword(app, email);
  const form = { code: await factor.nextCode(), next: "/admin" };
  await client.open(CODE, { form });
  expect(client.session).toBeDefined();
  return client;
}

const statusOf = async (client: BrowserClient, path = "/admin") => (await client.open(path)).status;

describe("a sign-in with the provider", () => {
  test("of a user with a second factor asks for no code", async () => {
    await using at = await withAda();
    const { app, id } = at;
    await enrol(app, id);
    const client = new BrowserClient(app);
    const answer = await client.signIn(provider);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/admin"]);
    expect(await statusOf(client)).toBe(200);
  });

  test("by an invitation of a user with a second factor asks for no code", async () => {
    await using at = await withAda();
    const { app } = at;
    const { ctx } = app;
    const grace = { name: "Grace", email: "grace@example.com", role: "editor" } as const;
    const { token, user } = await ctx.db.write((tx) => inviteUser(ctx, tx, grace, CLI_ACTOR));
    await enrol(app, user.id);
    provider.person = { ...plainPerson, sub: "00u-grace", email: "grace@example.com" };
    const client = new BrowserClient(app);
    await client.signIn(provider, `${linkPath("invite", token)}/provider`);
    expect(await statusOf(client)).toBe(200);
  });

  test("opens everything to a role that needs a second factor, which a password does not", async () => {
    await using at = await withAda({ ALLCLEAR_SECOND_FACTOR: "viewer" });
    const { app } = at;
    await app.page({ slug: "secret", visibility: "private" });
    const byPassword = await withPassword(app);
    expect(await statusOf(byPassword)).toBe(303);
    expect(await statusOf(byPassword, SECOND_FACTOR)).toBe(200);
    expect(await statusOf(byPassword, "/status/secret")).toBe(404);
    const byProvider = new BrowserClient(app);
    await byProvider.signIn(provider);
    expect(await statusOf(byProvider)).toBe(200);
    expect(await statusOf(byProvider, "/status/secret")).toBe(200);
  });

  test("ends the session of the browser that could only set up a second factor", async () => {
    await using at = await withAda({ ALLCLEAR_SECOND_FACTOR: "viewer" });
    const { app } = at;
    const client = await withPassword(app);
    const earlier = new BrowserClient(app, client.session);
    await client.signIn(provider);
    expect(await statusOf(client)).toBe(200);
    expect((await earlier.open(SECOND_FACTOR)).headers.get("location")).toStartWith(
      "/admin/sign-in?",
    );
  });

  test("that changes the role by the groups ends a sign-in that waits for a code", async () => {
    await using at = await withAda({ ALLCLEAR_ROLES: "ops=admin; staff=viewer" });
    const { app, id } = at;
    const factor = await enrol(app, id);
    const waiting = await withPassword(app);
    provider.person = { ...plainPerson, groups: ["ops"] };
    await new BrowserClient(app).signIn(provider);
    expect(await statusOf(waiting, CODE)).toBe(200);
    provider.person = { ...plainPerson, groups: ["staff"] };
    await new BrowserClient(app).signIn(provider);
    const form = { code: await factor.nextCode(), next: "/admin" };
    const late = await waiting.open(CODE, { form });
    expect([late.status, waiting.session]).toEqual([422, undefined]);
    expect(late.text).toContain(ENDED);
  });
});

describe("where only owners have passwords", () => {
  /** Starts the server again with the option, as far as sign-ins see it. */
  function restartForOwners({ ctx }: TestApp): void {
    ctx.config = { ...ctx.config, localSignIn: "owners" };
  }

  test("a sign-in that waited for a code over the restart ends for others, and goes on for owners", async () => {
    await using at = await withAda();
    const { app, id } = at;
    const owner = await userWithPassword(app, "second@example.com", "owner");
    const factors = [await enrol(app, id), await enrol(app, owner.id)];
    const [ada, second] = [await withPassword(app), await withPassword(app, "second@example.com")];
    restartForOwners(app);
    const [code = "", other = ""] = [await factors[0]?.nextCode(), factors[1]?.code()];
    const late = await ada.open(CODE, { form: { code, next: "/admin" } });
    expect([late.status, ada.session]).toEqual([422, undefined]);
    expect(late.text).toContain(ENDED);
    await second.open(CODE, { form: { code: other, next: "/admin" } });
    expect(await statusOf(second)).toBe(200);
  });

  test("others are offered no second factor, since they sign in without a password", async () => {
    await using at = await withAda();
    const { app } = at;
    restartForOwners(app);
    const [ada, owner] = [new BrowserClient(app), await withPassword(app, "owner@example.com")];
    await ada.signIn(provider);
    const linksOf = async (client: BrowserClient) =>
      readHtml((await client.open(ACCOUNT)).text).attributes("a", "href");
    expect(await linksOf(owner)).toContain(SECOND_FACTOR);
    expect(await linksOf(ada)).not.toContain(SECOND_FACTOR);
    expect((await ada.open(SECOND_FACTOR)).headers.get("location")).toBe(ACCOUNT);
    expect(await statusOf(owner, SECOND_FACTOR)).toBe(200);
  });

  test("a recovery link is followed by a code if the user has set up a second factor since", async () => {
    await using at = await withAda();
    const { app, id } = at;
    restartForOwners(app);
    const { ctx } = app;
    const link = await ctx.db.write((tx) =>
      recoverUser(ctx, tx, id, { makesOwner: false }, CLI_ACTOR),
    );
    const factor = await enrol(app, id);
    const client = new BrowserClient(app);
    const form = { name: "Ada", password: `${PASSWORD} 2` };
    const answer = await client.open(linkPath("reset", link?.token ?? ""), { form });
    expect(answer.headers.get("location")).toBe(CODE);
    await client.open(CODE, { form: { code: await factor.nextCode(), next: "/admin" } });
    expect(await statusOf(client)).toBe(200);
  });
});

describe("connecting the account of a user with a second factor", () => {
  /** An owner with a second factor and no identity, and the browser with the session. */
  async function withOwner() {
    const at = await withAda();
    const owner = await userWithPassword(at.app, "second@example.com", "owner");
    const factor = await enrol(at.app, owner.id);
    const client = await withCode(at.app, factor, "second@example.com");
    return { ...at, owner, factor, client };
  }

  /** Returns the address of the link to the provider; undefined if the page has none. */
  function addressIn(answer: Answer): string | undefined {
    const page = readHtml(answer.text);
    return page.attributes("a", "href")[page.texts("a").indexOf("Continue to Northwind")];
  }

  const errorsOn = (answer: Answer) => readHtml(answer.text).texts("[id$=-error]");

  test("takes password and code, and connects", async () => {
    await using at = await withOwner();
    const { client, factor, owner, app } = at;
    const page = readHtml((await client.open(ACCOUNT)).text);
    expect(page.attributes("input", "name")).toContain("code");
    provider.person = { ...plainPerson, sub: "00u-second" };
    const form = { password: PASSWORD, code: await factor.nextCode() };
    const answer = await client.open(CONNECT, { form });
    expect(answer.status).toBe(200);
    await client.open(await provider.authorize(addressIn(answer) ?? ""));
    expect(listIdentitiesOf(app.ctx.db, { userId: owner.id })).toHaveLength(1);
    expect(actionsOf(app)).toContain("user.connect");
  });

  test("takes a recovery code, which is used up", async () => {
    await using at = await withOwner();
    const { client, factor } = at;
    const [code = ""] = factor.recoveryCodes;
    const form = { password: PASSWORD, code };
    expect(addressIn(await client.open(CONNECT, { form }))).toBeDefined();
    const again = await client.open(CONNECT, { form });
    expect([again.status, errorsOn(again)]).toEqual([
      422,
      ["This recovery code is wrong, or was used before."],
    ]);
  });

  test("begins nothing without a code, with a wrong one, or with one that was used", async () => {
    await using at = await withOwner();
    const { client, factor } = at;
    for (const code of ["", factor.wrongCode(), factor.code()]) {
      const answer = await client.open(CONNECT, { form: { password: PASSWORD, code } });
      expect([answer.status, addressIn(answer), client.flow]).toEqual([422, undefined, undefined]);
      expect(errorsOn(answer)).toHaveLength(1);
      expect(answer.text).not.toContain(`value="${code}"`);
    }
  });

  test("says nothing about a code, and uses none up, with a wrong password or without the provider", async () => {
    await using at = await withOwner();
    const { client, factor } = at;
    const code = await factor.nextCode();
    const wrong = await client.open(CONNECT, { form: { password: "a wrong password", code } });
    expect([wrong.status, errorsOn(wrong)]).toEqual([422, ["Current password is wrong."]]);
    provider.answer = () => new Response(null, { status: 500 });
    const down = await client.open(CONNECT, { form: { password: PASSWORD, code } });
    expect([down.status, down.text.includes("cannot be used now")]).toEqual([503, true]);
    provider.answer = () => undefined;
    const form = { password: PASSWORD, code };
    expect(addressIn(await client.open(CONNECT, { form }))).toBeDefined();
  });

  test("counts wrong codes like those of a sign-in", async () => {
    await using at = await withOwner();
    const { client, factor, app } = at;
    for (let wrong = 0; wrong < 10; wrong += 1) {
      const form = { password: PASSWORD, code: factor.wrongCode() };
      await client.open(CONNECT, { form, from: `198.51.100.${wrong}` });
    }
    const form = { password: PASSWORD, code: await factor.nextCode() };
    const answer = await client.open(CONNECT, { form });
    expect([answer.status, errorsOn(answer)]).toEqual([
      422,
      [expect.stringContaining("Codes are refused for 15 minutes")],
    ]);
    expect(actionsOf(app)).toContain("user.codes_refused");
  });

  test("is mailed, as it is without a second factor", async () => {
    now = () => TEST_START;
    await using site = await createAccountMailSite({ env: provider.env });
    const { app, owner } = site;
    const factor = await enrol(app, owner.id);
    const client = await withCode(app, factor, OWNER);
    now = app.clock.now;
    const form = { password: PASSWORD, code: await factor.nextCode() };
    const answer = await client.open(CONNECT, { form });
    await client.open(await provider.authorize(addressIn(answer) ?? ""));
    expect(site.mails("connected")).toMatchObject([
      { recipient: OWNER, params: { system: "Northwind", label: ADA } },
    ]);
  });
});

test("a recovered account has no second factor any more, and one mail says so", async () => {
  await using site = await createAccountMailSite();
  const { app, grace } = site;
  const { ctx } = app;
  await enrol(app, grace.id);
  const waiting = await withPassword(app, grace.email);
  const before = site.mails().length;
  const link = await ctx.db.write((tx) =>
    recoverUser(ctx, tx, grace.id, { makesOwner: false }, CLI_ACTOR),
  );
  expect(await statusOf(waiting, CODE)).toBe(303);
  const client = new BrowserClient(app);
  const form = { name: "Grace", password: `${PASSWORD} 2` };
  await client.open(linkPath("reset", link?.token ?? ""), { form });
  expect(await statusOf(client)).toBe(200);
  expect(actionsOf(app)).toEqual(expect.arrayContaining(["user.second_factor_reset"]));
  expect(
    site
      .mails()
      .slice(before)
      .map(({ template }) => template),
  ).toEqual(["recovered", "password_changed"]);
});
