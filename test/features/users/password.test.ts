import { describe, expect, test } from "bun:test";
import type { Tx } from "../../../src/db/statements";
import { createSessions } from "../../../src/features/auth/sessions";
import { findLink } from "../../../src/features/auth/links";
import { changePassword, endOneSession, endSessions } from "../../../src/features/users/sign-in";
import { disableUser } from "../../../src/features/users/users";
import { issuePasswordLink } from "../../../src/features/users/invitations";
import { CLI_ACTOR, userActor } from "../../../src/base/actor";
import {
  HASH,
  openPeopleInstallation,
  type PeopleInstallation,
} from "../../support/user-installation";

const NEW_HASH = `${HASH}-new`;

/** Ada with two sessions, and Bob with one. */
async function threeSessions() {
  const installation = openPeopleInstallation();
  const [ada, bob] = [await installation.user("Ada"), await installation.user("Bob")];
  const tokens = {
    own: await installation.start(ada.id),
    other: await installation.start(ada.id),
    bobs: await installation.start(bob.id),
  };
  const sessions = createSessions(installation.ctx);
  const find = (name: keyof typeof tokens) => sessions.find(tokens[name], installation.clock.now());
  return {
    installation,
    ada,
    bob,
    find,
    idOf: (name: keyof typeof tokens) => find(name)?.id ?? Number.NaN,
    live: () => (Object.keys(tokens) as (keyof typeof tokens)[]).filter((name) => find(name)),
    [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
  };
}

function hashOf(installation: PeopleInstallation, id: string): unknown {
  return installation.sqlite.query("SELECT password_hash AS hash FROM users WHERE id = ?").get(id);
}

describe("changing a password", () => {
  test("changing a password ends all other sessions of the user", async () => {
    await using at = await threeSessions();
    const { installation, ada } = at;
    const actor = userActor(ada, "203.0.113.7");
    await installation.write((tx) => {
      changePassword(
        installation.ctx,
        tx,
        { userId: ada.id, passwordHash: NEW_HASH, keepSessionId: at.idOf("own") },
        actor,
      );
    });
    expect(at.live()).toEqual(["own", "bobs"]);
    expect(hashOf(installation, ada.id)).toEqual({ hash: NEW_HASH });
    expect(installation.audit().at(-1)).toMatchObject({
      action: "user.password",
      actor_id: ada.id,
      target_id: ada.id,
      summary: "Changed the password of “Ada”",
      ip: "203.0.113.7",
    });
  });

  test("changing a password without a session to keep ends all sessions and voids the user's links", async () => {
    await using at = await threeSessions();
    const { installation, ada } = at;
    const { ctx, clock } = installation;
    const { token } = await installation.write((tx) =>
      issuePasswordLink(ctx, tx, ada.id, CLI_ACTOR),
    );
    expect(findLink(ctx.db, token, clock.now())).toBeDefined();
    await installation.write((tx) =>
      changePassword(ctx, tx, { userId: ada.id, passwordHash: NEW_HASH }, CLI_ACTOR),
    );
    expect(at.live()).toEqual(["bobs"]);
    expect(findLink(ctx.db, token, clock.now())).toBeUndefined();
  });

  test("changing a password is a conflict if the session to keep has ended or is another user's", async () => {
    await using at = await threeSessions();
    const { installation, ada } = at;
    const change = (hash: string, keep: number) => (tx: Tx) =>
      changePassword(
        installation.ctx,
        tx,
        { userId: ada.id, passwordHash: hash, keepSessionId: keep },
        userActor(ada),
      );
    const [own, stolen] = [at.idOf("own"), at.idOf("other")];
    await installation.write(change(NEW_HASH, own));
    expect((await installation.rejectionFrom(change(HASH, stolen))).code).toBe("conflict");
    expect((await installation.rejectionFrom(change(HASH, at.idOf("bobs")))).code).toBe("conflict");
    await installation.write(change(HASH, own));
    expect(hashOf(installation, ada.id)).toEqual({ hash: HASH });
  });

  test("changing a password is rejected for disabled and unknown users", async () => {
    await using at = await threeSessions();
    const { installation, bob } = at;
    await installation.write((tx) => disableUser(installation.ctx, tx, bob.id, CLI_ACTOR));
    const change = (id: string) => (tx: Tx) =>
      changePassword(installation.ctx, tx, { userId: id, passwordHash: NEW_HASH }, CLI_ACTOR);
    expect((await installation.rejectionFrom(change(bob.id))).code).toBe("conflict");
    expect((await installation.rejectionFrom(change("usr_nobody"))).code).toBe("not_found");
  });
});

describe("ending sessions", () => {
  test("ending sessions returns their number and writes an audit entry if there were any", async () => {
    await using at = await threeSessions();
    const { installation, ada } = at;
    const end = (except?: number) =>
      installation.write((tx) => endSessions(installation.ctx, tx, ada.id, userActor(ada), except));
    const own = at.idOf("own");
    expect(await end(own)).toBe(1);
    expect(at.live()).toEqual(["own", "bobs"]);
    expect(await end(own)).toBe(0);
    expect(await end()).toBe(1);
    expect(at.live()).toEqual(["bobs"]);
    const ended = installation.audit().filter(({ action }) => action === "session.end");
    expect(ended.map(({ summary }) => summary)).toEqual([
      "Ended 1 session of “Ada”",
      "Ended 1 session of “Ada”",
    ]);
  });

  test("ending one session works for the user's own only", async () => {
    await using at = await threeSessions();
    const { installation, ada } = at;
    const end = (id: number) =>
      installation.write((tx) => endOneSession(installation.ctx, tx, ada.id, id, userActor(ada)));
    expect(await end(at.idOf("bobs"))).toBe(false);
    expect(at.live()).toEqual(["own", "other", "bobs"]);
    const other = at.idOf("other");
    expect(await end(other)).toBe(true);
    expect(await end(other)).toBe(false);
    expect(at.live()).toEqual(["own", "bobs"]);
    const ended = installation.audit().filter(({ action }) => action === "session.end");
    expect(ended).toMatchObject([{ summary: "Ended a session of “Ada”", target_id: ada.id }]);
  });
});
