import { describe, expect, test } from "bun:test";
import { count } from "drizzle-orm";
import { selectOne } from "../src/db/statements";
import { formSubmissions } from "../src/db/tables/repeats";
import { oneTimeLinks, sessions } from "../src/db/tables/users";
import { issueSetUpLink } from "../src/features/users/invitations";
import { startHousekeeping } from "../src/background";
import { DAY_MS, HOUR_MS } from "../src/base/time";
import { settle } from "./support/clock";
import { createTestApp, type TestApp } from "./support/app";

/** Time from the start to the first run. */
const FIRST_RUN_MS = 300_000;

const ALL_TURNS = 20;

const countSessions = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ rows: count() }).from(sessions),
);
const countLinks = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ rows: count() }).from(oneTimeLinks),
);
const countSubmissions = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ rows: count() }).from(formSubmissions),
);

function rowsOf({ ctx: { db } }: TestApp) {
  return {
    sessions: countSessions(db, {})?.rows,
    links: countLinks(db, {})?.rows,
    submissions: countSubmissions(db, {})?.rows,
  };
}

/** Lets a run that has begun end. The clock of the test stands still meanwhile. */
async function runEnds(): Promise<void> {
  for (let turn = 0; turn < ALL_TURNS; turn++) await settle();
}

describe("housekeeping", () => {
  test("housekeeping removes expired rows every hour and keeps all others", async () => {
    await using app = await createTestApp();
    const keeping = startHousekeeping(app.ctx);
    await app.ctx.db.write((tx) => issueSetUpLink(app.ctx, tx));
    await app.clock.advance(FIRST_RUN_MS);
    await runEnds();
    await app.clock.advance(HOUR_MS);
    await runEnds();
    expect(rowsOf(app)).toEqual({ sessions: 0, links: 0, submissions: 0 });

    const session = await app.signedIn("admin");
    const form = { name: "Once", scopes: "read:status", expires: "never" };
    await app.call("/admin/settings/keys/new", { session, form });
    expect(rowsOf(app)).toEqual({ sessions: 1, links: 0, submissions: 1 });
    await app.clock.advance(DAY_MS - HOUR_MS);
    expect(rowsOf(app)).toEqual({ sessions: 1, links: 0, submissions: 1 });
    await app.clock.advance(2 * HOUR_MS);
    expect(rowsOf(app)).toEqual({ sessions: 0, links: 0, submissions: 0 });
    keeping.cancel();
  });

  test("housekeeping logs a database error and tries again after an hour", async () => {
    await using app = await createTestApp();
    const keeping = startHousekeeping(app.ctx);
    await app.signedIn();
    const write = app.ctx.db.write;
    app.ctx.db.write = () => Promise.reject(new Error("full"));
    await app.clock.advance(DAY_MS);
    expect(app.logged.map(({ msg }) => msg)).toContain(
      "what has ended could not be cleared away; trying in an hour",
    );
    app.ctx.db.write = write;
    await app.clock.advance(HOUR_MS);
    expect(rowsOf(app).sessions).toBe(0);
    keeping.cancel();
  });
});
