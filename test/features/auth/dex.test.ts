import { afterAll, beforeAll, expect, test } from "bun:test";
import { listUsers } from "../../../src/features/users/users";
import { createTestApp } from "../../support/app";
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

  test.each([
    ["authors=admin", [303, 403], [`${AUTHOR} admin`, "owner@example.com owner"]],
    [
      "authors=editor; *=viewer",
      [303, 303],
      [`${ADA} viewer`, `${AUTHOR} editor`, "owner@example.com owner"],
    ],
  ])("signs users in with the roles of their groups by %s", async (roles, statuses, users) => {
    const clock = createTestClock(Date.now());
    await using app = await createTestApp({ clock, env: { ...dex.env, ALLCLEAR_ROLES: roles } });
    await userWithPassword(app, "owner@example.com");
    const outcomes: number[] = [];
    for (const email of [AUTHOR, ADA]) {
      const client = new BrowserClient(app);
      const answer = await client.open(await dex.authorize(await client.begin(), email));
      outcomes.push(answer.status);
      expect(client.session !== undefined).toBe(answer.status === 303);
    }
    expect(outcomes).toEqual(statuses);
    const found = listUsers(app.ctx.db).map(({ email, role }) => `${email} ${role}`);
    expect(found.toSorted()).toEqual(users);
  });
});
