import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { freeNameLike, type KeyListing, listKeyPage } from "../../../src/features/keys/records";
import {
  expiryChoiceLike,
  expiryOfChoice,
  KEY_SORTS,
  type KeyOrder,
} from "../../../src/features/keys/rules";
import { createTestApp, type TestApp } from "../../support/app";
import { atOnce } from "../../support/turns";
import { listEveryKey } from "../../support/key-pages";

const DAY = 24 * 60 * 60 * 1_000;

/** Creates keys whose names, limits, uses, creation and ends have different orders, and two of them equal values. */
async function createKeys(app: TestApp): Promise<void> {
  const day = (days: number) => new Date(app.clock.now() + days * DAY).toISOString().slice(0, 10);
  const made = [];
  for (const key of [
    { name: "delta", rate_limit: 10 },
    { name: "Alpha", rate_limit: 300, expires: day(30) },
    { name: "charlie.1", rate_limit: 300, expires: day(7) },
    { name: "bravo", rate_limit: 20 },
    { name: "bravo", rate_limit: 5_000, expires: day(400) },
  ]) {
    made.push(await app.createKey(key));
    await app.clock.advance(1_000);
  }
  for (const index of [3, 1]) {
    await app.call("/api/v1/key", { key: made[index]?.value ?? "" });
    await app.clock.advance(6_000);
  }
}

const EXPECTED: Readonly<Record<KeyOrder, string[]>> = {
  name: ["Alpha", "bravo 20", "bravo 5000", "charlie.1", "delta"],
  "-name": ["delta", "charlie.1", "bravo 5000", "bravo 20", "Alpha"],
  limit: ["delta", "bravo 20", "Alpha", "charlie.1", "bravo 5000"],
  "-limit": ["bravo 5000", "charlie.1", "Alpha", "bravo 20", "delta"],
  used: ["bravo 20", "Alpha", "delta", "charlie.1", "bravo 5000"],
  "-used": ["Alpha", "bravo 20", "bravo 5000", "charlie.1", "delta"],
  created: ["delta", "Alpha", "charlie.1", "bravo 20", "bravo 5000"],
  "-created": ["bravo 5000", "bravo 20", "charlie.1", "Alpha", "delta"],
  expires: ["charlie.1", "Alpha", "bravo 5000", "delta", "bravo 20"],
  "-expires": ["bravo 5000", "Alpha", "charlie.1", "bravo 20", "delta"],
};

describe("the order of the list of keys", () => {
  test("each column sorts in both directions, with keys that lack a value last, on any size of page", async () => {
    await using app = await createTestApp();
    await createKeys(app);
    const now = app.clock.now();
    const shown = ({ name, rate_limit: limit }: KeyListing) =>
      name === "bravo" ? `${name} ${limit}` : name;
    const orders = KEY_SORTS.flatMap((key) => [key, `-${key}`] as const);
    for (const order of orders) {
      for (const limit of [1, 2, 50]) {
        const keys = listEveryKey(app.ctx.db, { filter: "all", order, limit, now });
        expect([order, limit, ...keys.map(shown)]).toEqual([order, limit, ...EXPECTED[order]]);
      }
    }
  });

  test("a position of another order or without a value shows the list from its start", async () => {
    await using app = await createTestApp();
    await createKeys(app);
    const now = app.clock.now();
    for (const before of ["key_0", "key_0.", "key_0.many", "."]) {
      const page = { filter: "all", order: "used", before, limit: 50, now } as const;
      expect(atOnce(listKeyPage(app.ctx.db, page)).keys).toHaveLength(5);
    }
  });
});

describe("another key like one", () => {
  test.each([
    [[], "Bot", "Bot 2"],
    [["Bot"], "Bot", "Bot 2"],
    [["Bot", "Bot 2", "Bot 10", "Bots 77"], "Bot", "Bot 11"],
    [["Bot", "Bot 2"], "Bot 2", "Bot 3"],
    [["100%_", "100%_ 4"], "100%_", "100%_ 5"],
    [["2026"], "2026", "2026 2"],
  ])("among %p, the name like “%s” is “%s”", async (names, name, free) => {
    await using app = await createTestApp();
    for (const each of names) await app.createKey({ name: each });
    expect(freeNameLike(app.ctx.db, name)).toBe(free);
  });

  test("a name of the maximum length is cut to have room for the number", async () => {
    await using app = await createTestApp();
    const name = "😀".repeat(255);
    await app.createKey({ name });
    const free = freeNameLike(app.ctx.db, name);
    expect([...free].length).toBeLessThanOrEqual(255);
    await app.createKey({ name: free });
    expect(freeNameLike(app.ctx.db, name)).toEndWith("😀 3");
  });

  test("the period of a key is chosen again, by its days or by a date that is as far away", () => {
    const created = Date.parse("2026-03-10T09:30:00Z");
    const now = Date.parse("2026-11-20T23:00:00Z");
    const like = (expires: string | null) =>
      expiryChoiceLike(
        { createdAt: created, expiresAt: expires === null ? null : Date.parse(expires) },
        now,
      );
    expect(like(null)).toEqual({ choice: "never", date: "" });
    expect(like("2026-03-18T00:00:00Z")).toEqual({ choice: "7", date: "" });
    expect(like("2026-06-09T00:00:00Z")).toEqual({ choice: "90", date: "" });
    expect(like("2026-03-11T00:00:00Z")).toEqual({ choice: "date", date: "2026-11-20" });
    expect(like("2026-04-25T00:00:00Z")).toEqual({ choice: "date", date: "2027-01-04" });
  });

  test("the date of another key is one of the time zone of its reader", () => {
    const createdAt = Date.parse("2026-03-10T09:30:00Z");
    const expiresAt = Date.parse("2026-04-25T00:00:00Z");
    const now = Date.parse("2026-11-20T23:00:00Z");
    const dateIn = (zone: string) => expiryChoiceLike({ createdAt, expiresAt }, now, zone).date;
    expect(dateIn("Asia/Tokyo")).toBe("2027-01-05");
    expect(dateIn("America/New_York")).toBe("2027-01-04");
  });

  test("every choice of a key is the choice for another one like it, also when the clock changes", () => {
    const moments = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2037, 0, 1) });
    const choices = fc.constantFrom("never", "7", "30", "90", "365");
    const zones = fc.constantFrom("UTC", "Europe/Berlin", "America/Santiago", "Asia/Kathmandu");
    fc.assert(
      fc.property(choices, moments, moments, zones, (choice, createdAt, now, zone) => {
        const end = expiryOfChoice(choice, undefined, createdAt, zone);
        if (end !== null && typeof end !== "string") throw new Error(end.error);
        const expiresAt = end === null ? null : Date.parse(end) + (zone === "UTC" ? DAY : 0);
        expect(expiryChoiceLike({ createdAt, expiresAt }, now, zone).choice).toBe(choice);
      }),
      { numRuns: 1_000 },
    );
  });
});
