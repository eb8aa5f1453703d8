import { describe, expect, test } from "bun:test";
import { disableUser, listUsers, setRole } from "../../src/features/users";
import { CLI_ACTOR } from "../../src/domain/actor";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { KEY_FIELDS, USERS } from "../support/dashboard";

/** A user of this role with a session, and an owner beside them. */
async function someone(app: TestApp, role: "owner" | "admin") {
  await app.signedIn("owner");
  const before = new Set(listUsers(app.ctx.db).map(({ id }) => id));
  const session = await app.signedIn(role);
  const id = listUsers(app.ctx.db).find((user) => !before.has(user.id))?.id ?? "";
  return { session, id };
}

describe("a change that a user may no longer make when it is written", () => {
  test("is refused when they were disabled at the same moment", async () => {
    await using app = await createTestApp();
    const { session, id } = await someone(app, "admin");
    // Both wait for the same turn of the writer: the door has let the form through already.
    const sent = app.call("/admin/settings/keys/new", { session, form: KEY_FIELDS });
    const disabled = app.ctx.db.write((tx) => disableUser(app.ctx, tx, id, CLI_ACTOR));
    await disabled;
    const answer = await sent;
    expectProblem(answer, "sign_in_required");
    expect(app.audit().map(({ action }) => action)).not.toContain("key.create");
  });

  test("is refused when their role was taken away at the same moment", async () => {
    await using app = await createTestApp();
    const { session, id } = await someone(app, "owner");
    const form = { email: "eve@example.com", name: "Eve", role: "owner" };
    const sent = app.call(`${USERS}/new`, { session, form });
    await app.ctx.db.write((tx) => setRole(app.ctx, tx, id, "viewer", CLI_ACTOR));
    expectProblem(await sent, "insufficient_role");
    expect(app.audit().map(({ action }) => action)).not.toContain("user.invite");
  });

  test("is made when nothing of the kind happened", async () => {
    await using app = await createTestApp();
    const { session } = await someone(app, "owner");
    const form = { email: "bob@example.com", name: "Bob", role: "viewer" };
    expect((await app.call(`${USERS}/new`, { session, form })).status).toBe(200);
    expect(app.audit().map(({ action }) => action)).toContain("user.invite");
  });
});
