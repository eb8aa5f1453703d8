import { expect, test } from "bun:test";
import { applyFile, readApplyFile } from "../../../src/features/apply";
import { CLI_ACTOR } from "../../../src/domain/actor";
import { createTestApp } from "../../support/app";
import { apply } from "../../support/apply";
import { counted } from "../../support/counted-transaction";

/** A page of components with a monitor each, which watches the first of them too. */
const fileOf = (count: number, days = 14) =>
  JSON.stringify({
    pages: [
      {
        slug: "big",
        name: "Big",
        components: Array.from({ length: count }, (_, n) => ({
          name: `c${n}`,
          monitors: [
            {
              name: `m${n}`,
              type: "tls",
              components: ["big/c0"],
              config: { host: "a.test", days },
            },
          ],
        })),
      },
    ],
  });

/** Counts the statements needed to apply the file `after` to the state of `before`. */
async function costOf(before: string, after: string): Promise<number> {
  await using app = await createTestApp();
  await apply(app, before);
  const file = readApplyFile(after);
  return app.ctx.db.write((tx) => {
    const { tx: countedTx, statements } = counted(tx);
    applyFile(app.ctx, countedTx, file, { prune: true, actor: CLI_ACTOR });
    return statements();
  });
}

test("a file that changes nothing is applied with as few statements for 100 monitors as for 10", async () => {
  const few = await costOf(fileOf(10), fileOf(10));
  expect(few).toBeLessThan(20);
  expect(await costOf(fileOf(100), fileOf(100))).toBe(few);
});

test("the cost of creating and changing monitors grows linearly with their number", async () => {
  for (const [before, few, many] of [
    ["pages: []", fileOf(10), fileOf(100)],
    [undefined, fileOf(10, 7), fileOf(100, 7)],
  ] as const) {
    const forFew = await costOf(before ?? fileOf(10), few);
    const forMany = await costOf(before ?? fileOf(100), many);
    expect(forMany / forFew).toBeGreaterThan(2);
    expect(forMany / forFew).toBeLessThan(11);
  }
});
