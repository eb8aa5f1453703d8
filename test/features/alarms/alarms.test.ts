import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Alarms, createAlarms } from "../../../src/features/alarms/alarms";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../src/base/time";
import { createTestApp, type TestApp } from "../../support/app";
import { TEST_START } from "../../support/clock";
import { eventErrors } from "../../support/webhook-events";

let app: TestApp;
let alarms: Alarms;

beforeEach(async () => {
  app = await createTestApp();
  alarms = createAlarms(app.ctx);
});
afterEach(async () => {
  await alarms.stop();
  expect(eventErrors(app.events())).toEqual([]);
  await app[Symbol.asyncDispose]();
});

const settled = () => app.clock.advance(0);
const recorded = () => app.events().map(({ data }) => [data["kind"], data["state"]]);
const kinds = () => alarms.list().map(({ kind }) => kind);

/** Ends the alarms of this process as a restart does, and creates those of the next. */
async function restart(): Promise<void> {
  await alarms.stop();
  alarms = createAlarms(app.ctx);
}

/** Lets every write fail until the returned function is called. */
function failWrites(): () => void {
  const { write } = app.ctx.db;
  app.ctx.db.write = async () => {
    throw new Error("the disk is full");
  };
  return () => {
    app.ctx.db.write = write;
  };
}

describe("an alarm", () => {
  test("an alarm is listed, logged and recorded as an event when it is raised", async () => {
    alarms.raise("mirror_stale", "The mirror in /srv/mirror was last written 6 min ago.");
    await settled();
    const detail = "The mirror in /srv/mirror was last written 6 min ago.";
    expect(alarms.list()).toEqual([
      {
        kind: "mirror_stale",
        name: "Mirror out of date",
        tone: "partial",
        detail,
        since: TEST_START,
      },
    ]);
    expect(app.events()).toMatchObject([
      {
        type: "fleet.alarm",
        subjectId: "mirror_stale",
        data: {
          kind: "mirror_stale",
          name: "Mirror out of date",
          severity: "major",
          state: "raised",
          detail,
          since: toIso(TEST_START),
          cleared_at: null,
          url: "https://status.test/admin/settings/fleet",
        },
      },
    ]);
    expect(app.logged).toMatchObject([{ alarm: "mirror_stale", detail }]);
  });

  test("the end of an alarm has its newest detail", async () => {
    alarms.raise("replica_lag", "b is 11 s behind.");
    await settled();
    alarms.raise("replica_lag", "b is 40 s behind.");
    alarms.clear("replica_lag");
    await app.clock.advance(30 * SECOND_MS);
    expect(app.events().map(({ data }) => data["detail"])).toEqual([
      "b is 11 s behind.",
      "b is 40 s behind.",
    ]);
  });

  test("an alarm that is raised repeatedly is recorded once and listed with its newest detail", async () => {
    for (const lag of [11, 12, 13]) {
      alarms.raise("replica_lag", `b is ${lag} s behind.`);
      await settled();
    }
    expect(recorded()).toEqual([["replica_lag", "raised"]]);
    expect(alarms.list()).toMatchObject([{ detail: "b is 13 s behind." }]);
  });

  test("an alarm leaves the list at once and ends after 30 seconds without its condition", async () => {
    alarms.raise("valkey_unavailable", "It does not answer.");
    await app.clock.advance(MINUTE_MS);
    alarms.clear("valkey_unavailable");
    alarms.clear("valkey_unavailable");
    expect(alarms.list()).toEqual([]);
    await app.clock.advance(30 * SECOND_MS - 1);
    expect(recorded()).toEqual([["valkey_unavailable", "raised"]]);
    await app.clock.advance(1);
    expect(recorded().at(-1)).toEqual(["valkey_unavailable", "cleared"]);
    expect(app.events().at(-1)?.data).toMatchObject({
      since: toIso(TEST_START),
      cleared_at: toIso(TEST_START + 90 * SECOND_MS),
    });
  });

  test("an alarm that is raised again within 30 seconds has no further event", async () => {
    for (let turn = 0; turn < 10; turn++) {
      alarms.raise("durability_local", "One write.");
      await app.clock.advance(20 * SECOND_MS);
      alarms.clear("durability_local");
      await app.clock.advance(20 * SECOND_MS);
    }
    expect(recorded()).toEqual([["durability_local", "raised"]]);
  });

  test("an alarm that was not raised has no end", async () => {
    alarms.clear("log_hole");
    await app.clock.advance(MINUTE_MS);
    expect(app.events()).toEqual([]);
  });

  test("a detail hides values that look like secrets, and is cut after 1,000 characters", async () => {
    const secret = `allclear_${"a".repeat(30)}`;
    alarms.raise("purge_failing", `${secret} ${"x".repeat(2_000)}`);
    await settled();
    const [alarm] = alarms.list();
    expect(alarm?.detail).toStartWith("[redacted] xxx");
    expect(alarm?.detail).toHaveLength(1_000);
    expect(JSON.stringify([app.events(), app.logged])).not.toContain(secret);
  });
});

test("alarms are listed worst first, then newest", async () => {
  alarms.raise("mirror_stale", "a");
  await app.clock.advance(SECOND_MS);
  alarms.raise("clock_skew", "b");
  alarms.raise("orphans", "c");
  alarms.raise("lease_renewal", "d");
  expect(kinds()).toEqual(["lease_renewal", "orphans", "mirror_stale", "clock_skew"]);
});

describe("after a restart, an alarm", () => {
  beforeEach(async () => {
    alarms.raise("mirror_stale", "The mirror is 6 min old.");
    await app.clock.advance(MINUTE_MS);
    await restart();
  });

  test("an alarm that is raised again after a restart keeps its beginning and has no further event", async () => {
    expect(alarms.list()).toMatchObject([{ kind: "mirror_stale", since: TEST_START }]);
    alarms.raise("mirror_stale", "The mirror is 7 min old.");
    await app.clock.advance(10 * MINUTE_MS);
    expect(recorded()).toEqual([["mirror_stale", "raised"]]);
    expect(alarms.list()).toMatchObject([{ since: TEST_START }]);
  });

  test("after a restart, an alarm ends 30 seconds after its condition is found to be over", async () => {
    alarms.clear("mirror_stale");
    await app.clock.advance(30 * SECOND_MS);
    expect(recorded().at(-1)).toEqual(["mirror_stale", "cleared"]);
    await restart();
    expect(alarms.list()).toEqual([]);
  });

  test("after a restart, an alarm ends after 7 minutes if nothing in the new process knows its condition", async () => {
    await app.clock.advance(7 * MINUTE_MS - 1);
    expect(kinds()).toEqual(["mirror_stale"]);
    await app.clock.advance(1);
    expect(recorded().at(-1)).toEqual(["mirror_stale", "cleared"]);
  });
});

describe("while the database takes no changes", () => {
  test("alarms are listed and logged while the database takes no changes, and recorded afterwards", async () => {
    const repair = failWrites();
    alarms.raise("lease_renewal", "The store does not answer.");
    await app.clock.advance(25 * SECOND_MS);
    expect(kinds()).toEqual(["lease_renewal"]);
    expect(app.logged).toMatchObject([{ alarm: "lease_renewal" }, {}, {}, {}]);
    expect(app.events()).toEqual([]);
    repair();
    await app.clock.advance(10 * SECOND_MS);
    expect(recorded()).toEqual([["lease_renewal", "raised"]]);
    expect(app.events()[0]?.data).toMatchObject({ since: toIso(TEST_START) });
  });

  test("an alarm that begins and ends while the database takes no changes has no event", async () => {
    const repair = failWrites();
    alarms.raise("lease_renewal", "The store does not answer.");
    alarms.clear("lease_renewal");
    await app.clock.advance(31 * SECOND_MS);
    repair();
    await app.clock.advance(MINUTE_MS);
    expect(app.events()).toEqual([]);
  });
});

test("changes that happen during a write are recorded by the next one, in order", async () => {
  alarms.raise("mirror_stale", "a");
  alarms.raise("orphans", "b");
  await settled();
  expect(recorded()).toEqual([
    ["mirror_stale", "raised"],
    ["orphans", "raised"],
  ]);
});

test("no alarm is recorded or listed after the stop", async () => {
  alarms.raise("mirror_stale", "a");
  await alarms.stop();
  alarms.raise("orphans", "b");
  alarms.clear("mirror_stale");
  await app.clock.advance(10 * MINUTE_MS);
  expect(recorded()).toEqual([["mirror_stale", "raised"]]);
  expect(kinds()).toEqual(["mirror_stale"]);
});
