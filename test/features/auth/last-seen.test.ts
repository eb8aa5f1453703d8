import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createSessions, endSession } from "../../../src/features/auth/sessions";
import { openSqlite } from "../../../src/db/open";
import { type AuthInstallation, openAuthInstallation } from "../../support/auth-installation";
import { TEST_START } from "../../support/clock";
import { committedTransactions } from "../../support/database";
import { temporaryFolder } from "../../support/temporary-folder";

async function signedIn(installation: AuthInstallation) {
  await installation.addUser("usr_ada");
  const token = await installation.start("usr_ada");
  const sessions = createSessions(installation.ctx);
  const find = () => sessions.find(token, installation.clock.now())!;
  const use = (ip = "203.0.113.7") => sessions.touch(find(), installation.clock.now(), ip);
  return { sessions, find, use };
}

describe("the last use of a session", () => {
  test("the last use of a session is written with its address at most once a minute", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    await using installation = openAuthInstallation(path);
    const { find, use } = await signedIn(installation);
    const before = committedTransactions(path);
    for (let second = 1; second < 60; second++) {
      await installation.clock.advance(1_000);
      use("198.51.100.9");
    }
    await installation.clock.advance(999);
    use("198.51.100.9");
    await installation.clock.advance(0);
    expect(find()).toMatchObject({ lastSeenAt: TEST_START, ip: "203.0.113.7" });
    expect(committedTransactions(path)).toBe(before);

    await installation.clock.advance(1);
    use("198.51.100.9");
    await installation.clock.advance(30_000);
    use("198.51.100.10");
    await installation.clock.advance(0);
    expect(find()).toMatchObject({ lastSeenAt: TEST_START + 60_000, ip: "198.51.100.9" });
    expect(committedTransactions(path)).toBe(before + 1);
  });

  test("the last use of a session is written once for concurrent requests, and per session", async () => {
    await using installation = openAuthInstallation();
    const { sessions, find } = await signedIn(installation);
    const other = await installation.start("usr_ada");
    const write = installation.ctx.db.write;
    let writes = 0;
    installation.ctx.db.write = (change) => {
      writes += 1;
      return write(change);
    };
    await installation.clock.advance(60_000);
    const now = installation.clock.now();
    const session = find();
    for (let i = 0; i < 20; i++) sessions.touch(session, now, "203.0.113.7");
    sessions.touch(sessions.find(other, now)!, now, "203.0.113.7");
    await installation.clock.advance(0);
    expect(writes).toBe(2);
    expect(find().lastSeenAt).toBe(now);
    expect(sessions.find(other, now)?.lastSeenAt).toBe(now);
  });

  test("a failure to write the last use of a session is logged, and retried after a minute", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    await using installation = openAuthInstallation(path);
    const { find, use } = await signedIn(installation);
    const rejections = () =>
      installation.logged.filter(({ msg }) => msg.includes("could not be written"));
    using other = openSqlite(path, 0);
    other.run("BEGIN IMMEDIATE");
    for (let i = 0; i < 6; i++) {
      await installation.clock.advance(10_000);
      use();
    }
    await installation.clock.advance(6_000);
    use();
    await installation.clock.advance(6_000);
    expect(rejections()).toHaveLength(1);
    expect(find().lastSeenAt).toBe(TEST_START);
    other.run("ROLLBACK");

    await installation.clock.advance(48_000);
    use();
    await installation.clock.advance(0);
    expect(rejections()).toHaveLength(1);
    expect(find().lastSeenAt).toBe(installation.clock.now());
  });

  test("the last use of a session neither moves back nor restores an ended session", async () => {
    await using installation = openAuthInstallation();
    const { sessions, find, use } = await signedIn(installation);
    const early = find();
    await installation.clock.advance(120_000);
    use("198.51.100.9");
    await installation.clock.advance(0);
    // Another server's look at the same session, from before.
    createSessions(installation.ctx).touch(early, TEST_START + 60_000, "203.0.113.7");
    await installation.clock.advance(0);
    expect(find()).toMatchObject({ lastSeenAt: TEST_START + 120_000, ip: "198.51.100.9" });

    await installation.clock.advance(60_000);
    const session = find();
    await installation.ctx.db.write((tx) => endSession(tx, "usr_ada", session.id));
    sessions.touch(session, installation.clock.now(), "203.0.113.7");
    await installation.clock.advance(0);
    expect(find()).toBeUndefined();
    expect(installation.logged).toEqual([]);
  });
});
