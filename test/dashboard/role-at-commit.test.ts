import { describe, expect, test } from "bun:test";
import { disableUser, listUsers, setRole } from "../../src/features/users/users";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { KEY_FIELDS, USERS } from "../support/dashboard";

/** Creates an owner and a user of this role with a session. */
async function someone(app: TestApp, role: "owner" | "admin") {
  await app.signedIn("owner");
  const before = new Set(listUsers(app.ctx.db).map(({ id }) => id));
  const session = await app.signedIn(role);
  const id = listUsers(app.ctx.db).find((user) => !before.has(user.id))?.id ?? "";
  return { session, id };
}

describe("a change whose user loses permission before it is written", () => {
  test("a change is rejected if its user was disabled at the same time", async () => {
    await using app = await createTestApp();
    const { session, id } = await someone(app, "admin");
    // Both wait for the same turn of the writer: the gateway has already let the form through.
    const sent = app.call("/admin/settings/keys/new", { session, form: KEY_FIELDS });
    const disabled = app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    await disabled;
    const answer = await sent;
    expectProblem(answer, "sign_in_required");
    expect(app.audit().map(({ action }) => action)).not.toContain("key.create");
  });

  test("a change is rejected if its user lost the role at the same time", async () => {
    await using app = await createTestApp();
    const { session, id } = await someone(app, "owner");
    const form = { email: "eve@example.com", name: "Eve", role: "owner" };
    const sent = app.call(`${USERS}/new`, { session, form });
    await app.ctx.db.write((tx) => setRole(app.ctx, tx, id, "viewer", CLI_ACTOR));
    expectProblem(await sent, "insufficient_role");
    expect(app.audit().map(({ action }) => action)).not.toContain("user.invite");
  });

  test("a change is applied if its user keeps the role", async () => {
    await using app = await createTestApp();
    const { session } = await someone(app, "owner");
    const form = { email: "bob@example.com", name: "Bob", role: "viewer" };
    expect((await app.call(`${USERS}/new`, { session, form })).status).toBe(200);
    expect(app.audit().map(({ action }) => action)).toContain("user.invite");
  });
});
