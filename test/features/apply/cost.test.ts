import { describe, expect, test } from "bun:test";
import { applyFile } from "../../../src/features/apply/apply";
import { readApplyFile } from "../../../src/features/apply/read";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp } from "../../support/app";
import { apply } from "../../support/apply";
import { counted } from "../../support/counted-transaction";

const EMPTY = "pages: []";

const manyOf = <T>(count: number, create: (n: number) => T) =>
  Array.from({ length: count }, (_, n) => create(n));

function withComponents(count: number, description?: string): string {
  const components = manyOf(count, (n) => ({ name: `c${n}`, description }));
  return JSON.stringify({ pages: [{ slug: "big", name: "Big", components }] });
}

/** A page of components with a monitor each, which is also one of the first component. */
function withMonitors(count: number, days = 14): string {
  const monitorOf = (n: number) => ({
    name: `m${n}`,
    type: "tls",
    components: ["big/c0"],
    config: { host: "a.test", days },
  });
  const components = manyOf(count, (n) => ({ name: `c${n}`, monitors: [monitorOf(n)] }));
  return JSON.stringify({ pages: [{ slug: "big", name: "Big", components }] });
}

/** Webhooks for a page, each with a secret URL. */
function withWebhooks(count: number): string {
  const webhooks = manyOf(count, (n) => ({
    ref: `w${n}`,
    format: "discord",
    url: `https://discord.com/api/webhooks/${n}/token`,
    page: "big",
  }));
  return JSON.stringify({ pages: [{ slug: "big", name: "Big" }], webhooks });
}

/** Counts the statements and rows needed to apply the file `after` to the state of `before`. */
async function costOf(before: string, after: string) {
  await using app = await createTestApp();
  await apply(app, before);
  const file = readApplyFile(after);
  return app.ctx.db.write((tx) => {
    const { tx: countedTx, statements, rows } = counted(tx);
    const options = { prune: true, actor: CLI_ACTOR, passwords: new Map() };
    const { changes } = applyFile(app.ctx, countedTx, file, options);
    return { statements: statements(), rows: rows(), changes: changes.length };
  });
}

describe("the cost of applying a file", () => {
  test("applying unchanged components takes as many statements for 200 as for 10", async () => {
    const few = await costOf(withComponents(10), withComponents(10));
    const many = await costOf(withComponents(200), withComponents(200));
    expect(few.statements).toBeLessThan(13);
    expect(many.statements).toBe(few.statements);
    // Each component is read once.
    expect(many.rows - few.rows).toBe(190);
  });

  test("the cost of changing all components grows linearly with their number", async () => {
    const few = await costOf(withComponents(10), withComponents(10, "other"));
    const many = await costOf(withComponents(200), withComponents(200, "other"));
    expect(many.statements).toBeGreaterThan(few.statements);
    expect(many.statements / few.statements).toBeLessThan(20);
    expect(many.rows - few.rows).toBe(190);
  });

  test("the cost of creating a component does not depend on their number", async () => {
    const few = await costOf(EMPTY, withComponents(10));
    const many = await costOf(EMPTY, withComponents(200));
    expect(many.statements / few.statements).toBeLessThan(20);
    expect(many.rows).toBe(few.rows);
  });

  test.each([
    { what: "monitors", fileOf: withMonitors },
    { what: "webhooks", fileOf: withWebhooks },
  ])("applying unchanged $what takes as many statements for 100 as for 10", async ({ fileOf }) => {
    const few = await costOf(fileOf(10), fileOf(10));
    const many = await costOf(fileOf(100), fileOf(100));
    expect([few.changes, many.changes]).toEqual([0, 0]);
    expect(few.statements).toBeLessThan(20);
    expect(many.statements).toBe(few.statements);
  });

  test("the cost of creating and changing monitors grows linearly with their number", async () => {
    for (const beforeOf of [() => EMPTY, withMonitors]) {
      const few = await costOf(beforeOf(10), withMonitors(10, 7));
      const many = await costOf(beforeOf(100), withMonitors(100, 7));
      expect(many.statements / few.statements).toBeGreaterThan(2);
      expect(many.statements / few.statements).toBeLessThan(11);
    }
  });
});
