import { describe, expect, test } from "bun:test";
import { createSessions } from "../../../src/features/auth/sessions";
import { findLink } from "../../../src/features/auth/links";
import { revokeKey } from "../../../src/features/keys/keys";
import {
  disableUser,
  enableUser,
  getUser,
  listLiveKeysOf,
  setRole,
} from "../../../src/features/users/users";
import { issuePasswordLink } from "../../../src/features/users/invitations";
import { CLI_ACTOR, userActor } from "../../../src/base/actor";
import { openPeopleInstallation } from "../../support/user-installation";
import { createKey } from "../../support/examined";

describe("disabling a user", () => {
  test("disabling a user ends their sessions and links, and no others", async () => {
    await using installation = openPeopleInstallation();
    const { ctx, clock } = installation;
    const [ada, bob] = [await installation.user("Ada"), await installation.user("Bob")];
    const tokens = [await installation.start(bob.id), await installation.start(bob.id)];
    const others = await installation.start(ada.id);
    const link = await installation.write((tx) => issuePasswordLink(ctx, tx, bob.id, CLI_ACTOR));
    const othersLink = await installation.write((tx) =>
      issuePasswordLink(ctx, tx, ada.id, CLI_ACTOR),
    );

    const disabled = await installation.write((tx) => disableUser(ctx, tx, bob.id, CLI_ACTOR));
    expect(disabled).toEqual({ ...bob, disabled_at: "2026-03-10T12:00:00.000Z", version: 2 });
    expect(getUser(ctx.db, bob.id)).toEqual(disabled);
    const sessions = createSessions(ctx);
    const found = tokens.map((token) => sessions.find(token, clock.now()));
    expect(found).toEqual([undefined, undefined]);
    expect(findLink(ctx.db, link.token, clock.now())).toBeUndefined();
    expect(sessions.find(others, clock.now())).toBeDefined();
    expect(findLink(ctx.db, othersLink.token, clock.now())).toBeDefined();
    expect(installation.audit().at(-1)).toMatchObject({
      action: "user.disable",
      target_id: bob.id,
    });
  });

  test("enabling a user does not restore old sessions", async () => {
    await using installation = openPeopleInstallation();
    const { ctx } = installation;
    await installation.user("Ada");
    const bob = await installation.user("Bob");
    const token = await installation.start(bob.id);
    await installation.write((tx) => disableUser(ctx, tx, bob.id, CLI_ACTOR));
    const enabled = await installation.write((tx) => enableUser(ctx, tx, bob.id, CLI_ACTOR));
    expect(enabled).toEqual({ ...bob, version: 3 });
    expect(createSessions(ctx).find(token, installation.clock.now())).toBeUndefined();
    expect(installation.audit().at(-1)).toMatchObject({ action: "user.enable", target_id: bob.id });
  });

  test("disabling or enabling a user again changes nothing", async () => {
    await using installation = openPeopleInstallation();
    const { ctx } = installation;
    await installation.user("Ada");
    const { id } = await installation.user("Bob");
    const first = await installation.write((tx) => disableUser(ctx, tx, id, CLI_ACTOR));
    await installation.clock.advance(1_000);
    expect(await installation.write((tx) => disableUser(ctx, tx, id, CLI_ACTOR))).toEqual(first);
    for (const _ of ["first", "again"]) {
      await installation.write((tx) => enableUser(ctx, tx, id, CLI_ACTOR));
    }
    const actions = installation.audit().map(({ action }) => action);
    expect(actions.slice(2)).toEqual(["user.disable", "user.enable"]);
  });

  test("disabling a user keeps their keys, and the live ones can be listed", async () => {
    await using installation = openPeopleInstallation();
    const { ctx, clock } = installation;
    const [ada, bob] = [await installation.user("Ada"), await installation.user("Bob")];
    const make = (name: string, by: typeof bob, expires?: string) =>
      installation.write((tx) => {
        const input = { name, scopes: ["read:status" as const], ...(expires ? { expires } : {}) };
        return createKey(ctx, tx, input, userActor(by)).key;
      });
    const bot = await make("CI bot", bob);
    const lasting = await make("until tomorrow", bob, "2026-03-11");
    await make("until today", bob, "2026-03-10");
    const revoked = await make("revoked", bob);
    await make("of Ada", ada);
    await installation.write((tx) => {
      createKey(ctx, tx, { name: "of nobody", scopes: ["read:status"] }, CLI_ACTOR);
      revokeKey(ctx, tx, revoked.id, CLI_ACTOR);
      disableUser(ctx, tx, bob.id, CLI_ACTOR);
    });
    await clock.advance(12 * 3_600_000);
    expect(listLiveKeysOf(ctx.db, bob.id, clock.now())).toEqual([
      { id: bot.id, name: "CI bot" },
      { id: lasting.id, name: "until tomorrow" },
    ]);
  });
});

test("a changed role applies to open sessions at once", async () => {
  await using installation = openPeopleInstallation();
  const { ctx, clock } = installation;
  await installation.user("Ada");
  const { id } = await installation.user("Bob");
  const token = await installation.start(id);
  const sessions = createSessions(ctx);
  expect(sessions.find(token, clock.now())?.user.role).toBe("editor");
  await installation.write((tx) => setRole(ctx, tx, id, "viewer", CLI_ACTOR));
  expect(sessions.find(token, clock.now())?.user.role).toBe("viewer");
});
