import { expect, test } from "bun:test";
import { countKeys, listKeyPage } from "../../../src/features/keys/records";
import { createTestApp, type TestApp } from "../../support/app";
import { atOnce } from "../../support/turns";

async function createMany(app: TestApp, count: number): Promise<string[]> {
  const made = await Promise.all(
    Array.from({ length: count }, (_, index) => app.createKey({ name: `key ${index}` })),
  );
  return made.map(({ key }) => key.id);
}

function page(app: TestApp, limit: number, before?: string) {
  const query = { filter: "all", limit, before, now: app.clock.now() } as const;
  return atOnce(listKeyPage(app.ctx.db, query));
}

test("the pages of 1,000 keys contain every key exactly once, newest first", async () => {
  await using app = await createTestApp();
  const made = await createMany(app, 1_000);
  const shown: string[] = [];
  let before: string | undefined;
  let pages = 0;
  do {
    const { keys, nextBefore } = page(app, 64, before);
    shown.push(...keys.map((key) => key.id));
    before = nextBefore ?? undefined;
    pages += 1;
  } while (before !== undefined);
  expect(shown).toEqual(made.toReversed());
  expect(pages).toBe(16);
  expect(atOnce(countKeys(app.ctx.db, app.clock.now())).all).toBe(1_000);
});

test("keys created between two pages neither repeat nor hide another", async () => {
  await using app = await createTestApp();
  const made = await createMany(app, 1_000);
  const shown: string[] = [];
  let before: string | undefined;
  do {
    const { keys, nextBefore } = page(app, 90, before);
    shown.push(...keys.map((key) => key.id));
    before = nextBefore ?? undefined;
    await createMany(app, 5);
    await app.clock.advance(1);
  } while (before !== undefined);
  expect(shown).toEqual(made.toReversed());
  expect(atOnce(countKeys(app.ctx.db, app.clock.now())).all).toBe(1_060);
});

test("a page that ends with the last key has no next page", async () => {
  await using app = await createTestApp();
  const [oldest = "", , newest = ""] = await createMany(app, 3);
  expect(page(app, 3).nextBefore).toBeNull();
  expect(page(app, 2).nextBefore).not.toBeNull();
  expect(page(app, 1).keys.map((key) => key.id)).toEqual([newest]);
  expect(page(app, 50, oldest)).toEqual({ keys: [], nextBefore: null });
});

test("an installation without keys has an empty page and counts of 0", async () => {
  await using app = await createTestApp();
  expect(page(app, 50)).toEqual({ keys: [], nextBefore: null });
  expect(atOnce(countKeys(app.ctx.db, app.clock.now()))).toEqual({
    all: 0,
    live: 0,
    expiring: 0,
    never_expires: 0,
    unused: 0,
    limited: 0,
  });
});
