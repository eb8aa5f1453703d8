import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { exportFile, readApplyFile, writeApplyFile } from "../../../src/features/apply";
import { anyActs, furnishAnyhow } from "../../support/any-house";
import { createTestApp, type TestApp } from "../../support/app";
import { apply } from "../../support/apply";

// Hundreds of transactions, on a machine that may be busy with other things.
setDefaultTimeout(30_000);

/** What `export` writes. */
const written = ({ ctx }: TestApp) =>
  ctx.db.write((tx) => writeApplyFile(exportFile(tx), ["A comment", "of two lines"]));

describe("whatever was done to an installation", () => {
  test("what export writes is read as what export said, and applied to it changes nothing", async () => {
    await using app = await createTestApp();
    let pages = 0;
    await fc.assert(
      fc.asyncProperty(anyActs, async (acts) => {
        await furnishAnyhow(app, acts);
        const said = await app.ctx.db.write((tx) => exportFile(tx));
        const text = await written(app);
        expect(readApplyFile(text).content).toEqual(said);
        const audited = app.audit().length;
        expect(await apply(app, text, true)).toEqual({ changes: [], leftovers: [] });
        expect(app.audit()).toHaveLength(audited);
        pages += said.pages.length;
      }),
      { numRuns: 50 },
    );
    expect(pages).toBeGreaterThan(10);
  });

  test("what export writes makes the same of an empty installation", async () => {
    await using app = await createTestApp();
    await using other = await createTestApp();
    await fc.assert(
      fc.asyncProperty(anyActs, async (acts) => {
        await furnishAnyhow(app, acts);
        await furnishAnyhow(other, []);
        const text = await written(app);
        await apply(other, text, true);
        expect(await written(other)).toBe(text);
        expect((await apply(other, text, true)).changes).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
