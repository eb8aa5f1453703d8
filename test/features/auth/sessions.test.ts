import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  createSessions,
  endSession,
  endSessionsOf,
  listSessionsOf,
  startSession,
} from "../../../src/features/auth";
import { openSqlite } from "../../../src/db/open";
import { TEST_START } from "../../support/clock";
import { type AuthHouse, countRows, openAuthHouse } from "../../support/auth";
import { temporaryFolder } from "../../support/temporary-folder";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A house with one user, `usr_ada`, signed in. */
async function signedIn(house: AuthHouse) {
  await house.addUser("usr_ada", { email: "ada@acme.test", name: "Ada", role: "admin" });
  const token = await house.start("usr_ada");
  const sessions = createSessions(house.ctx);
  const find = (given = token) => sessions.find(given, house.clock.now());
  return { token, sessions, find };
}

describe("a session", () => {
  test("is found by its token, with its user, and by nothing else", async () => {
    await using house = openAuthHouse();
    const { token, find } = await signedIn(house);
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(find()).toEqual({
      id: expect.any(Number),
      user: { id: "usr_ada", email: "ada@acme.test", name: "Ada", role: "admin" },
      createdAt: TEST_START,
      lastSeenAt: TEST_START,
      ip: "203.0.113.7",
      userAgent: "Firefox",
    });
    const other = token.startsWith("a") ? `b${token.slice(1)}` : `a${token.slice(1)}`;
    for (const wrong of ["", other, `${token} `, `${token}\n`, token.slice(1), "é".repeat(43)]) {
      expect(find(wrong), wrong).toBeUndefined();
    }
  });

  test("that is not used is live for 24 hours, one millisecond less", async () => {
    await using house = openAuthHouse();
    const { find } = await signedIn(house);
    await house.clock.advance(DAY_MS - 1);
    expect(find()?.user.id).toBe("usr_ada");
    await house.clock.advance(1);
    expect(find()).toBeUndefined();
    expect(listSessionsOf(house.ctx.db, "usr_ada", house.clock.now())).toEqual([]);
  });

  test("that is used all the time ends 14 days after it was started", async () => {
    await using house = openAuthHouse();
    const { find, sessions } = await signedIn(house);
    for (let hour = 1; hour < 14 * 24; hour++) {
      await house.clock.advance(HOUR_MS);
      const session = find();
      if (!session) throw new Error(`dead after ${hour} hours`);
      sessions.touch(session, house.clock.now(), "203.0.113.7");
    }
    await house.clock.advance(HOUR_MS - 1);
    expect(find()?.lastSeenAt).toBe(TEST_START + 14 * DAY_MS - HOUR_MS);
    await house.clock.advance(1);
    expect(find()).toBeUndefined();
  });

  test.each(["disabled_at", "deleted_at"])(
    "of a user whose %s another process sets is dead on the next look",
    async (column) => {
      using folder = temporaryFolder();
      const path = join(folder.path, "allclear.db");
      await using house = openAuthHouse(path);
      const { find } = await signedIn(house);
      expect(find()?.user.role).toBe("admin");
      using other = openSqlite(path, 0);
      other.run("UPDATE users SET role = 'viewer'");
      expect(find()?.user.role).toBe("viewer");
      other.run(`UPDATE users SET ${column} = ${TEST_START}`);
      expect(find()).toBeUndefined();
      expect(listSessionsOf(house.ctx.db, "usr_ada", house.clock.now())).toEqual([]);
    },
  );

  test("keeps 400 characters of the browser's name", async () => {
    await using house = openAuthHouse();
    await house.addUser("usr_ada");
    await house.start("usr_ada", { userAgent: "x".repeat(5_000) });
    const [session] = listSessionsOf(house.ctx.db, "usr_ada", house.clock.now());
    expect(session?.userAgent).toBe("x".repeat(400));
  });

  test("cannot be started for nobody", async () => {
    await using house = openAuthHouse();
    await expect(house.start("usr_nobody")).rejects.toThrow("FOREIGN KEY");
    expect(countRows(house.sqlite, "sessions")).toBe(0);
  });
});

describe("of the sessions of a user", () => {
  test("there are at most 50: the oldest end, and nobody else's", async () => {
    await using house = openAuthHouse();
    const { find, token: first } = await signedIn(house);
    await house.addUser("usr_bob");
    const bobs = await house.start("usr_bob");
    const tokens = [first];
    for (let i = 1; i < 50; i++) {
      await house.clock.advance(1);
      tokens.push(await house.start("usr_ada"));
    }
    expect(tokens.filter((token) => find(token))).toHaveLength(50);
    await house.clock.advance(1);
    tokens.push(await house.start("usr_ada"));
    expect(tokens.map((token) => find(token) !== undefined)).toEqual([
      false,
      ...Array.from({ length: 50 }, () => true),
    ]);
    expect(find(bobs)?.user.id).toBe("usr_bob");
  });

  test("the newest lives, also when all were started in one millisecond", async () => {
    await using house = openAuthHouse();
    const { find } = await signedIn(house);
    for (let i = 0; i < 60; i++) {
      expect(find(await house.start("usr_ada"))?.user.id).toBe("usr_ada");
    }
    expect(listSessionsOf(house.ctx.db, "usr_ada", house.clock.now())).toHaveLength(50);
  });

  test("the list shows the last seen first, and nobody else's", async () => {
    await using house = openAuthHouse();
    const { find, sessions } = await signedIn(house);
    await house.addUser("usr_bob");
    await house.start("usr_bob");
    await house.clock.advance(60_000);
    await house.start("usr_ada", { ip: "198.51.100.9", userAgent: "Chrome" });
    const agents = () =>
      listSessionsOf(house.ctx.db, "usr_ada", house.clock.now()).map((one) => one.userAgent);
    expect(agents()).toEqual(["Chrome", "Firefox"]);
    await house.clock.advance(60_000);
    sessions.touch(find()!, house.clock.now(), "203.0.113.8");
    await house.clock.advance(0);
    expect(agents()).toEqual(["Firefox", "Chrome"]);
  });

  test("one ends by its id, for its own user only, and only once", async () => {
    await using house = openAuthHouse();
    const { find } = await signedIn(house);
    await house.addUser("usr_bob");
    const { id } = find()!;
    const end = (userId: string) => house.ctx.db.write((tx) => endSession(tx, userId, id));
    expect(await end("usr_bob")).toBe(false);
    expect(find()?.id).toBe(id);
    expect(await end("usr_ada")).toBe(true);
    expect(find()).toBeUndefined();
    expect(await end("usr_ada")).toBe(false);
  });

  test("all end, or all but one, and nobody else's", async () => {
    await using house = openAuthHouse();
    const { find, token } = await signedIn(house);
    await house.addUser("usr_bob");
    const others = [await house.start("usr_ada"), await house.start("usr_ada")];
    const bobs = await house.start("usr_bob");
    const kept = find(token)!.id;
    const end = (except?: number) =>
      house.ctx.db.write((tx) => endSessionsOf(tx, "usr_ada", except));
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

  test("no id is given twice, so that ending an old one never ends another", async () => {
    await using house = openAuthHouse();
    await house.addUser("usr_ada");
    const ids = new Set<number>();
    for (let i = 0; i < 20; i++) {
      const token = await house.start("usr_ada");
      const { id } = createSessions(house.ctx).find(token, house.clock.now())!;
      ids.add(id);
      await house.ctx.db.write((tx) => endSession(tx, "usr_ada", id));
    }
    expect(ids.size).toBe(20);
  });

  test("one that is started in a change which is undone was never there", async () => {
    await using house = openAuthHouse();
    const { find, token: earlier } = await signedIn(house);
    let token = "";
    const undone = house.ctx.db.write((tx) => {
      token = startSession(house.ctx, tx, "usr_ada", { ip: "203.0.113.7", userAgent: "" });
      endSessionsOf(tx, "usr_ada");
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(find(token)).toBeUndefined();
    expect(find(earlier)?.user.id).toBe("usr_ada");
  });
});
