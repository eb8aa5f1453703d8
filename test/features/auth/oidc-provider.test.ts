import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { disableUser, findUserByEmail } from "../../../src/features/users/users";
import { createTestApp, type TestApp } from "../../support/app";
import { BrowserClient } from "../../support/browser-client";
import { createTestClock } from "../../support/clock";
import { userWithPassword } from "../../support/dashboard";
import { type RealProvider, startOidcProvider } from "../../support/servers/oidc-provider";

const ROLES = { ALLCLEAR_ROLES: "sre=admin; support=editor" };

const ADA = { email: "ada@northwind.example", email_verified: true, name: "Ada Lovelace" };

describe.each([
  ["in the ID token", true],
  ["in UserInfo", false],
])("the package oidc-provider with claims %s", (_, isWhole) => {
  let provider: RealProvider;
  beforeAll(async () => {
    provider = await startOidcProvider("https://status.test", { isWhole });
  });
  afterAll(() => provider?.[Symbol.asyncDispose]());

  /** Creates an installation at the time of the provider, with an owner. */
  async function appWith(env: Record<string, string>): Promise<TestApp> {
    const clock = createTestClock(Date.now());
    const app = await createTestApp({ clock, env: { ...provider.env, ...env } });
    await userWithPassword(app, "owner@example.com");
    return app;
  }

  async function signIn(app: TestApp, login = "ada") {
    const client = new BrowserClient(app);
    const answer = await client.open(await provider.authorize(await client.begin(), login));
    const line = app.logged.findLast(({ reason }) => reason !== undefined);
    const reason = answer.status === 400 ? line?.["reason"] : undefined;
    expect(reason).toBeUndefined();
    return { client, answer, role: findUserByEmail(app.ctx.db, ADA.email)?.role };
  }

  test("signs users in with the roles of their groups, as these change", async () => {
    await using app = await appWith(ROLES);
    provider.people.set("ada", { ...ADA, groups: ["sre", "support"] });
    const first = await signIn(app);
    expect([first.answer.status, first.role]).toEqual([303, "admin"]);
    provider.people.set("ada", { ...ADA, groups: ["support"] });
    expect((await signIn(app)).role).toBe("editor");
    provider.people.set("ada", { ...ADA, groups: [] });
    const refused = await signIn(app);
    expect([refused.answer.status, refused.client.session]).toEqual([403, undefined]);
  });

  test("signs users in with its next keys", async () => {
    await using app = await appWith({});
    provider.people.set("ada", ADA);
    await signIn(app);
    await provider.rotateKeys();
    expect((await signIn(app)).client.session).toBeDefined();
  });

  test("does not bring back a user who is disabled here", async () => {
    await using app = await appWith({});
    provider.people.set("ada", ADA);
    expect((await signIn(app)).client.session).toBeDefined();
    const id = findUserByEmail(app.ctx.db, ADA.email)?.id ?? "";
    await app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    expect((await signIn(app)).client.session).toBeUndefined();
  });

  test("refuses a callback whose code was used", async () => {
    await using app = await appWith({});
    provider.people.set("ada", ADA);
    const client = new BrowserClient(app);
    const back = await provider.authorize(await client.begin(), "ada");
    const code = new URLSearchParams(back.split("?")[1]).get("code") ?? "";
    await client.open(back);
    expect(client.session).toBeDefined();
    const later = new BrowserClient(app);
    const other = await provider.authorize(await later.begin(), "ada");
    const reused = other.replace(/code=[^&]+/, `code=${code}`);
    expect((await later.open(reused)).status).toBe(400);
    expect(later.session).toBeUndefined();
  });
});
