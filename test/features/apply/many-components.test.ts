import { expect, test } from "bun:test";
import { applyFile, readApplyFile } from "../../../src/features/apply";
import { CLI_ACTOR } from "../../../src/domain/actor";
import { createTestApp } from "../../support/app";
import { apply } from "../../support/apply";
import { counted } from "../../support/counted-transaction";

const fileOf = (count: number, description?: string) =>
  JSON.stringify({
    pages: [
      {
        slug: "big",
        name: "Big",
        components: Array.from({ length: count }, (_, n) => ({ name: `c${n}`, description })),
      },
    ],
  });

/** Counts the statements and rows needed to apply the file `after` to the state of `before`. */
async function costOf(before: string, after: string) {
  await using app = await createTestApp();
  await apply(app, before);
  const file = readApplyFile(after);
  return app.ctx.db.write((tx) => {
    const { tx: countedTx, statements, rows } = counted(tx);
    applyFile(app.ctx, countedTx, file, { prune: true, actor: CLI_ACTOR });
    return { statements: statements(), rows: rows() };
  });
}

test("a file that changes nothing is applied with as few statements for 200 components as for 10", async () => {
  const few = await costOf(fileOf(10), fileOf(10));
  const many = await costOf(fileOf(200), fileOf(200));
  expect(few.statements).toBeLessThan(12);
  expect(many.statements).toBe(few.statements);
  // Each component is read once.
  expect(many.rows - few.rows).toBe(190);
});

test("the cost of changing all components grows linearly with their number", async () => {
  const few = await costOf(fileOf(10), fileOf(10, "other"));
  const many = await costOf(fileOf(200), fileOf(200, "other"));
  expect(many.statements).toBeGreaterThan(few.statements);
  expect(many.statements / few.statements).toBeLessThan(20);
  expect(many.rows - few.rows).toBe(190);
});

test("the cost of creating a component does not depend on their number", async () => {
  const none = "pages: []";
  const few = await costOf(none, fileOf(10));
  const many = await costOf(none, fileOf(200));
  expect(many.statements / few.statements).toBeLessThan(20);
  expect(many.rows).toBe(few.rows);
});
