import { afterAll, beforeAll, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { MINUTE_MS } from "../../../src/base/time";
import { disableUser, findUserByEmail, listUsers } from "../../../src/features/users/users";
import { createTestApp, type TestApp } from "../../support/app";
import { BrowserClient } from "../../support/browser-client";
import { createTestClock } from "../../support/clock";
import { userWithPassword } from "../../support/dashboard";
import { describeWithPrograms } from "../../support/fleet/describe";
import { AUTHOR, type Dex, startDex } from "../../support/servers/dex";

const ADA = "ada@northwind.example";

await describeWithPrograms("Dex", { go: ["dex"], isRequired: true }, () => {
  let dex: Dex;
  beforeAll(async () => {
    dex = await startDex("https://status.test", [ADA]);
  }, 600_000);
  afterAll(() => dex?.[Symbol.asyncDispose]());

  /** Creates an installation whose clock differs from that of Dex, with an owner. */
  async function appWith(env: Record<string, string>, aheadMs = 0): Promise<TestApp> {
    const clock = createTestClock(Date.now() + aheadMs);
    const app = await createTestApp({ clock, env: { ...dex.env, ...env } });
    await userWithPassword(app, "owner@example.com");
    return app;
  }

  async function signIn(app: TestApp, email: string) {
    const client = new BrowserClient(app);
    const { status } = await client.open(await dex.authorize(await client.begin(), email));
    expect(client.session !== undefined).toBe(status === 303);
    return status;
  }

  test.each([
    ["authors=admin", [303, 403], [`${AUTHOR} admin`, "owner@example.com owner"]],
    [
      "authors=editor; *=viewer",
      [303, 303],
      [`${ADA} viewer`, `${AUTHOR} editor`, "owner@example.com owner"],
    ],
  ])("signs users in with the roles of their groups by %s", async (roles, statuses, users) => {
    await using app = await appWith({ ALLCLEAR_ROLES: roles });
    const outcomes = [await signIn(app, AUTHOR), await signIn(app, ADA)];
    expect(outcomes).toEqual(statuses);
    const found = listUsers(app.ctx.db).map(({ email, role }) => `${email} ${role}`);
    expect(found.toSorted()).toEqual(users);
  });

  test("does not bring back a user who is disabled here", async () => {
    await using app = await appWith({});
    expect(await signIn(app, ADA)).toBe(303);
    const id = findUserByEmail(app.ctx.db, ADA)?.id ?? "";
    await app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    expect(await signIn(app, ADA)).toBe(403);
  });

  test("signs users in while its clock is 10 minutes ahead, and names it in the log when it is behind", async () => {
    await using early = await appWith({}, -10 * MINUTE_MS);
    expect(await signIn(early, ADA)).toBe(303);
    await using late = await appWith({}, 10 * MINUTE_MS);
    expect(await signIn(late, ADA)).toBe(400);
    const reason = late.logged.findLast((line) => line["reason"] !== undefined)?.["reason"];
    expect(reason).toMatch(
      /^The ID token has expired \(exp\): the clock of the provider is \d+ s behind this server's\.$/,
    );
  });
});
