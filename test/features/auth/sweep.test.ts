import { describe, expect, test } from "bun:test";
import { createSessions, sweepAuth } from "../../../src/features/auth/sessions";
import { findLink, issueLink } from "../../../src/features/auth/links";
import { findStep, startStep } from "../../../src/features/auth/steps";
import {
  type AuthInstallation,
  countRows,
  openAuthInstallation,
} from "../../support/auth-installation";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const sweep = (installation: AuthInstallation) =>
  installation.ctx.db.write((tx) => sweepAuth(tx, installation.clock.now()));

/** Adds sessions that differ in what may have ended them. Hashes are made up. */
function addSessions(
  installation: AuthInstallation,
  sessions: { userId: string; createdAt: number; lastSeenAt: number }[],
): void {
  const insert = installation.sqlite.prepare(
    "INSERT INTO sessions (hash, user_id, is_secure, created_at, last_seen_at, ip, user_agent) VALUES (randomblob(32), ?, 1, ?, ?, '', '')",
  );
  for (const { userId, createdAt, lastSeenAt } of sessions) {
    insert.run(userId, createdAt, lastSeenAt);
  }
}

describe("sweeping", () => {
  test("sweeping deletes exactly the ended sessions", async () => {
    await using installation = openAuthInstallation();
    const now = installation.clock.now();
    await installation.addUser("usr_ada");
    await installation.addUser("usr_disabled", { disabledAt: now });
    await installation.addUser("usr_deleted", { deletedAt: now });
    const [live, disabled, deleted] = [
      await installation.start("usr_ada"),
      await installation.start("usr_disabled"),
      await installation.start("usr_deleted"),
    ];
    addSessions(installation, [
      { userId: "usr_ada", createdAt: now - DAY_MS, lastSeenAt: now - DAY_MS + 1 },
      { userId: "usr_ada", createdAt: now - 14 * DAY_MS + 1, lastSeenAt: now },
      { userId: "usr_ada", createdAt: now - DAY_MS, lastSeenAt: now - DAY_MS },
      { userId: "usr_ada", createdAt: now - 14 * DAY_MS, lastSeenAt: now },
    ]);
    await sweep(installation);
    const left = installation.sqlite
      .query<{ created_at: number; last_seen_at: number }, []>(
        "SELECT created_at, last_seen_at FROM sessions ORDER BY created_at",
      )
      .all();
    expect(left).toEqual([
      { created_at: now - 14 * DAY_MS + 1, last_seen_at: now },
      { created_at: now - DAY_MS, last_seen_at: now - DAY_MS + 1 },
      { created_at: now, last_seen_at: now },
    ]);
    const { find } = createSessions(installation.ctx);
    expect(find(live, now)?.user.id).toBe("usr_ada");
    // What it deletes is what a look refuses already.
    expect([disabled, deleted].map((token) => find(token, now))).toEqual([undefined, undefined]);
  });

  test("sweeping deletes sessions of an identity 12 hours after their start", async () => {
    await using installation = openAuthInstallation();
    const { sqlite } = installation;
    const now = installation.clock.now();
    await installation.addUser("usr_ada");
    sqlite.run("INSERT INTO identities VALUES (7, 'usr_ada', 'proxy', 'ada', 'ada', 1, 1)");
    const ages = [12 * HOUR_MS - 1, 12 * HOUR_MS, 13 * HOUR_MS];
    addSessions(
      installation,
      ages.map((age) => ({ userId: "usr_ada", createdAt: now - age, lastSeenAt: now })),
    );
    sqlite.run("UPDATE sessions SET identity_id = 7 WHERE created_at > ?", [now - 13 * HOUR_MS]);
    await sweep(installation);
    const left = sqlite.query("SELECT created_at FROM sessions ORDER BY created_at").all();
    expect(left).toEqual([
      { created_at: now - 13 * HOUR_MS },
      { created_at: now - 12 * HOUR_MS + 1 },
    ]);
  });

  test("sweeping deletes exactly the expired links", async () => {
    await using installation = openAuthInstallation();
    await installation.addUser("usr_ada");
    const issue = (purpose: "reset" | "invite", lastsMs: number) =>
      installation.ctx.db.write(
        (tx) => issueLink(installation.ctx, tx, { purpose, userId: "usr_ada", lastsMs }).token,
      );
    await issue("invite", HOUR_MS);
    const lasting = await issue("reset", HOUR_MS + 1);
    await installation.clock.advance(HOUR_MS);
    await sweep(installation);
    expect(countRows(installation.sqlite, "one_time_links")).toBe(1);
    expect(findLink(installation.ctx.db, lasting, installation.clock.now())?.purpose).toBe("reset");
  });

  test("sweeping deletes exactly the sign-ins whose time for a code is over", async () => {
    await using installation = openAuthInstallation();
    const { ctx, clock, sqlite } = installation;
    await installation.addUser("usr_ada");
    await ctx.db.write((tx) => startStep(ctx, tx, "usr_ada"));
    await clock.advance(1);
    const lasting = await ctx.db.write((tx) => startStep(ctx, tx, "usr_ada"));
    await clock.advance(600_000 - 1);
    await sweep(installation);
    expect(countRows(sqlite, "sign_in_steps")).toBe(1);
    expect(findStep(ctx.db, lasting, clock.now())).toEqual({
      userId: "usr_ada",
      isRecovery: false,
    });
  });

  test("sweeping deletes at most 500 rows per call", async () => {
    await using installation = openAuthInstallation();
    const now = installation.clock.now();
    await installation.addUser("usr_ada");
    const live = await installation.start("usr_ada");
    const dead = { userId: "usr_ada", createdAt: now - 20 * DAY_MS, lastSeenAt: now - 10 * DAY_MS };
    addSessions(
      installation,
      Array.from({ length: 700 }, () => dead),
    );
    const link = installation.sqlite.prepare(
      `INSERT INTO one_time_links (hash, purpose, user_id, created_at, expires_at)
       VALUES (randomblob(32), 'setup', NULL, 0, 1)`,
    );
    for (let i = 0; i < 400; i++) link.run();
    const left = () => [
      countRows(installation.sqlite, "sessions"),
      countRows(installation.sqlite, "one_time_links"),
    ];
    await sweep(installation);
    expect(left()).toEqual([201, 400]);
    await sweep(installation);
    expect(left()).toEqual([1, 100]);
    await sweep(installation);
    expect(left()).toEqual([1, 0]);
    expect(createSessions(installation.ctx).find(live, now)?.user.id).toBe("usr_ada");
  });
});
