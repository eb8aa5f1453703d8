import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  createSessions,
  endSession,
  endSessionsOf,
  listSessionsOf,
  startSession,
} from "../../../src/features/auth/sessions";
import { openSqlite } from "../../../src/db/open";
import { TEST_START } from "../../support/clock";
import {
  type AuthInstallation,
  countRows,
  openAuthInstallation,
} from "../../support/auth-installation";
import { temporaryFolder } from "../../support/temporary-folder";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Adds the user `usr_ada` with a session. */
async function signedIn(installation: AuthInstallation) {
  await installation.addUser("usr_ada", { email: "ada@acme.test", name: "Ada", role: "admin" });
  const token = await installation.start("usr_ada");
  const sessions = createSessions(installation.ctx);
  const find = (given = token) => sessions.find(given, installation.clock.now());
  return { token, sessions, find };
}

describe("a session", () => {
  test("a session is found with its user by its exact token only", async () => {
    await using installation = openAuthInstallation();
    const { token, find } = await signedIn(installation);
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(find()).toEqual({
      id: expect.any(Number),
      user: {
        id: "usr_ada",
        email: "ada@acme.test",
        name: "Ada",
        role: "admin",
        timeZone: "UTC",
        isZoneChosen: false,
      },
      createdAt: TEST_START,
      lastSeenAt: TEST_START,
      ip: "203.0.113.7",
      userAgent: "Firefox",
      identityId: null,
      isForSetUpOnly: false,
    });
    const other = token.startsWith("a") ? `b${token.slice(1)}` : `a${token.slice(1)}`;
    for (const wrong of ["", other, `${token} `, `${token}\n`, token.slice(1), "é".repeat(43)]) {
      expect(find(wrong), wrong).toBeUndefined();
    }
  });

  test("an unused session ends after exactly 24 hours", async () => {
    await using installation = openAuthInstallation();
    const { find } = await signedIn(installation);
    await installation.clock.advance(DAY_MS - 1);
    expect(find()?.user.id).toBe("usr_ada");
    await installation.clock.advance(1);
    expect(find()).toBeUndefined();
    expect(listSessionsOf(installation.ctx.db, "usr_ada", installation.clock.now())).toEqual([]);
  });

  test("a session in constant use ends 14 days after its start", async () => {
    await using installation = openAuthInstallation();
    const { find, sessions } = await signedIn(installation);
    for (let hour = 1; hour < 14 * 24; hour++) {
      await installation.clock.advance(HOUR_MS);
      const session = find();
      if (!session) throw new Error(`dead after ${hour} hours`);
      sessions.touch(session, installation.clock.now(), "203.0.113.7");
    }
    await installation.clock.advance(HOUR_MS - 1);
    expect(find()?.lastSeenAt).toBe(TEST_START + 14 * DAY_MS - HOUR_MS);
    await installation.clock.advance(1);
    expect(find()).toBeUndefined();
  });

  test.each(["disabled_at", "deleted_at"])(
    "a session ends at once if another process sets its user's %s",
    async (column) => {
      using folder = temporaryFolder();
      const path = join(folder.path, "allclear.db");
      await using installation = openAuthInstallation(path);
      const { find } = await signedIn(installation);
      expect(find()?.user.role).toBe("admin");
      using other = openSqlite(path, 0);
      other.run("UPDATE users SET role = 'viewer'");
      expect(find()?.user.role).toBe("viewer");
      other.run(`UPDATE users SET ${column} = ${TEST_START}`);
      expect(find()).toBeUndefined();
      expect(listSessionsOf(installation.ctx.db, "usr_ada", installation.clock.now())).toEqual([]);
    },
  );

  test("a session stores 400 characters of the user agent", async () => {
    await using installation = openAuthInstallation();
    await installation.addUser("usr_ada");
    await installation.start("usr_ada", { userAgent: "x".repeat(5_000) });
    const [session] = listSessionsOf(installation.ctx.db, "usr_ada", installation.clock.now());
    expect(session?.userAgent).toBe("x".repeat(400));
  });

  test("a session cannot be started for an unknown user", async () => {
    await using installation = openAuthInstallation();
    await expect(installation.start("usr_nobody")).rejects.toThrow("FOREIGN KEY");
    expect(countRows(installation.sqlite, "sessions")).toBe(0);
  });
});

describe("the sessions of a user", () => {
  test("a user has at most 50 sessions, of which the oldest end", async () => {
    await using installation = openAuthInstallation();
    const { find, token: first } = await signedIn(installation);
    await installation.addUser("usr_bob");
    const bobs = await installation.start("usr_bob");
    const tokens = [first];
    for (let i = 1; i < 50; i++) {
      await installation.clock.advance(1);
      tokens.push(await installation.start("usr_ada"));
    }
    expect(tokens.filter((token) => find(token))).toHaveLength(50);
    await installation.clock.advance(1);
    tokens.push(await installation.start("usr_ada"));
    expect(tokens.map((token) => find(token) !== undefined)).toEqual([
      false,
      ...Array.from({ length: 50 }, () => true),
    ]);
    expect(find(bobs)?.user.id).toBe("usr_bob");
  });

  test("a user's newest session is live, even if all were started in one millisecond", async () => {
    await using installation = openAuthInstallation();
    const { find } = await signedIn(installation);
    for (let i = 0; i < 60; i++) {
      expect(find(await installation.start("usr_ada"))?.user.id).toBe("usr_ada");
    }
    expect(listSessionsOf(installation.ctx.db, "usr_ada", installation.clock.now())).toHaveLength(
      50,
    );
  });

  test("the list of a user's sessions is sorted by last use and contains no others", async () => {
    await using installation = openAuthInstallation();
    const { find, sessions } = await signedIn(installation);
    await installation.addUser("usr_bob");
    await installation.start("usr_bob");
    await installation.clock.advance(60_000);
    await installation.start("usr_ada", { ip: "198.51.100.9", userAgent: "Chrome" });
    const agents = () =>
      listSessionsOf(installation.ctx.db, "usr_ada", installation.clock.now()).map(
        (one) => one.userAgent,
      );
    expect(agents()).toEqual(["Chrome", "Firefox"]);
    await installation.clock.advance(60_000);
    sessions.touch(find()!, installation.clock.now(), "203.0.113.8");
    await installation.clock.advance(0);
    expect(agents()).toEqual(["Firefox", "Chrome"]);
  });

  test("endSession ends a session by id, once and for its own user only", async () => {
    await using installation = openAuthInstallation();
    const { find } = await signedIn(installation);
    await installation.addUser("usr_bob");
    const { id } = find()!;
    const end = (userId: string) => installation.ctx.db.write((tx) => endSession(tx, userId, id));
    expect(await end("usr_bob")).toBe(false);
    expect(find()?.id).toBe(id);
    expect(await end("usr_ada")).toBe(true);
    expect(find()).toBeUndefined();
    expect(await end("usr_ada")).toBe(false);
  });

  test("endSessionsOf ends all sessions of a user, or all but one", async () => {
    await using installation = openAuthInstallation();
    const { find, token } = await signedIn(installation);
    await installation.addUser("usr_bob");
    const others = [await installation.start("usr_ada"), await installation.start("usr_ada")];
    const bobs = await installation.start("usr_bob");
    const kept = find(token)!.id;
    const end = (except?: number) =>
      installation.ctx.db.write((tx) => endSessionsOf(tx, "usr_ada", except));
    expect(await end(kept)).toBe(2);
    expect([token, ...others, bobs].map((one) => find(one)?.user.id)).toEqual([
      "usr_ada",
      undefined,
      undefined,
      "usr_bob",
    ]);
    expect(await end()).toBe(1);
    expect(find(token)).toBeUndefined();
    expect(find(bobs)?.user.id).toBe("usr_bob");
  });

  test("session ids are never used again", async () => {
    await using installation = openAuthInstallation();
    await installation.addUser("usr_ada");
    const ids = new Set<number>();
    for (let i = 0; i < 20; i++) {
      const token = await installation.start("usr_ada");
      const { id } = createSessions(installation.ctx).find(token, installation.clock.now())!;
      ids.add(id);
      await installation.ctx.db.write((tx) => endSession(tx, "usr_ada", id));
    }
    expect(ids.size).toBe(20);
  });

  test("a session started in a rolled back change does not exist", async () => {
    await using installation = openAuthInstallation();
    const { find, token: earlier } = await signedIn(installation);
    let token = "";
    const undone = installation.ctx.db.write((tx) => {
      token = startSession(installation.ctx, tx, "usr_ada", { ip: "203.0.113.7", userAgent: "" });
      endSessionsOf(tx, "usr_ada");
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(find(token)).toBeUndefined();
    expect(find(earlier)?.user.id).toBe("usr_ada");
  });
});
