import { expect, test } from "bun:test";
import fc from "fast-check";
import { sha256 } from "../../../src/base/hash";
import { countKeys } from "../../../src/features/keys/records";
import { KEY_FILTERS, type KeyFilter } from "../../../src/features/keys/rules";
import { addToHour, insertKey, insertKeyValue } from "../../../src/features/keys/store";
import { createTestApp, type TestApp } from "../../support/app";
import { atOnce } from "../../support/turns";
import { TEST_START } from "../../support/clock";
import { listEveryKey } from "../../support/key-pages";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A key by what the filters go by, in ms before or after now. */
interface Sketch {
  age: number;
  expiresIn: number | null;
  isRevoked: boolean;
  usesAgo: (number | null)[];
  /** Whole hours before the present one. */
  rejectedAgo: number | null;
}

/** Moments around an edge, the edge itself and its neighbours among them. */
const around = (edge: number) =>
  fc.oneof(fc.integer({ min: edge - 2, max: edge + 2 }), fc.integer({ min: 0, max: 2 * edge }));

const sketches = fc.array(
  fc.record({
    age: around(90 * DAY),
    expiresIn: fc.option(fc.oneof(around(14 * DAY), fc.integer({ min: -5, max: 5 }))),
    isRevoked: fc.boolean(),
    usesAgo: fc.array(fc.option(around(90 * DAY)), { minLength: 1, maxLength: 3 }),
    rejectedAgo: fc.option(fc.integer({ min: 0, max: 200 })),
  }),
  { maxLength: 15 },
);

/** The filters once more, in words of their own. */
const EXPECTED: Record<KeyFilter, (sketch: Sketch) => boolean> = {
  all: () => true,
  live: ({ isRevoked, expiresIn }) => !isRevoked && (expiresIn === null || expiresIn > 0),
  expiring: (sketch) =>
    EXPECTED.live(sketch) && sketch.expiresIn !== null && sketch.expiresIn <= 14 * DAY,
  never_expires: (sketch) => EXPECTED.live(sketch) && sketch.expiresIn === null,
  unused: (sketch) =>
    EXPECTED.live(sketch) &&
    sketch.age > 90 * DAY &&
    sketch.usesAgo.every((ago) => ago === null || ago > 90 * DAY),
  // The clock is at a full hour, so that the 168 hours before it are the 7 days.
  limited: (sketch) =>
    EXPECTED.live(sketch) && sketch.rejectedAgo !== null && sketch.rejectedAgo <= 168,
};

function insertSketch(app: TestApp, sketch: Sketch): Promise<string> {
  const id = app.ctx.newId("key");
  const createdAt = TEST_START - sketch.age;
  return app.ctx.db.write((tx) => {
    insertKey(tx, {
      id,
      name: "sketched",
      scopes: ["read:status"],
      rateLimit: 1_000,
      expiresAt: sketch.expiresIn === null ? null : TEST_START + sketch.expiresIn,
      revokedAt: sketch.isRevoked ? TEST_START : null,
      version: 1,
      createdAt,
      createdByKind: "cli",
      createdByLabel: "test",
    });
    for (const [index, ago] of sketch.usesAgo.entries()) {
      insertKeyValue(tx, {
        hash: sha256(`${id} ${index}`),
        keyId: id,
        start: "allclear_0000",
        createdAt,
        endsAt: index === 0 ? null : TEST_START,
        lastUsedAt: ago === null ? null : TEST_START - ago,
      });
    }
    if (sketch.rejectedAgo !== null) {
      const hour = TEST_START - sketch.rejectedAgo * HOUR;
      addToHour(tx, { keyId: id, hour, ok: 1, clientError: 0, limited: 1 });
      addToHour(tx, { keyId: id, hour: hour - HOUR, ok: 1, clientError: 0, limited: 0 });
    }
    return id;
  });
}

test("each filter lists the matching keys, and its count is the length of that list", async () => {
  await fc.assert(
    fc.asyncProperty(sketches, async (given) => {
      await using app = await createTestApp();
      const made: { id: string; sketch: Sketch }[] = [];
      for (const sketch of given) made.unshift({ id: await insertSketch(app, sketch), sketch });
      const counts = atOnce(countKeys(app.ctx.db, TEST_START));
      for (const filter of KEY_FILTERS) {
        const shown = listEveryKey(app.ctx.db, { filter, limit: 4, now: TEST_START });
        const expected = made.filter(({ sketch }) => EXPECTED[filter](sketch));
        expect(shown.map((key) => key.id)).toEqual(expected.map(({ id }) => id));
        expect(counts[filter]).toBe(shown.length);
      }
    }),
    { numRuns: 60 },
  );
}, 600_000);
