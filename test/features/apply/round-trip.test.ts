import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import {
  describeChange,
  exportFile,
  monitorsIn,
  readApplyFile,
  writeApplyFile,
} from "../../../src/features/apply";
import type { ApplyFile } from "../../../src/features/apply/model";
import { withMonitors } from "../../../src/features/apply/placed";
import { anyActs, furnishAnyhow } from "../../support/any-house";
import { MONITOR_SECRET } from "../../support/any-monitor";
import { createTestApp, type TestApp } from "../../support/app";
import { apply } from "../../support/apply";

// Hundreds of transactions, on a machine that may be busy with other things.
setDefaultTimeout(30_000);

/** What `export` writes. */
const written = ({ ctx }: TestApp) =>
  ctx.db.write((tx) => writeApplyFile(exportFile(tx), ["A comment", "of two lines"]));

/** The same file with references in the places of its secrets. */
function withSecrets(file: ApplyFile): ApplyFile {
  return withMonitors(file, ({ item }) => {
    const { headers, body } = item.config ?? {};
    return {
      ...item,
      ...(item.config && {
        config: {
          ...item.config,
          ...(headers !== undefined && {
            headers: Object.fromEntries(
              Object.keys(headers as object).map((name) => [name, "x ${HEADER}"]),
            ),
          }),
          ...(body !== undefined && { body: "${BODY}" }),
        },
      }),
    };
  });
}

describe("whatever was done to an installation", () => {
  test("what export writes is read as what export said, and applied to it changes nothing", async () => {
    await using app = await createTestApp();
    let [pages, monitors] = [0, 0];
    await fc.assert(
      fc.asyncProperty(anyActs, async (acts) => {
        await furnishAnyhow(app, acts);
        const said = await app.ctx.db.write((tx) => exportFile(tx));
        const text = await written(app);
        expect(text).not.toContain(MONITOR_SECRET);
        expect(readApplyFile(text).content).toEqual(said);
        const audited = app.audit().length;
        expect(await apply(app, text, true)).toEqual({ changes: [], leftovers: [] });
        expect(app.audit()).toHaveLength(audited);
        pages += said.pages.length;
        monitors += monitorsIn(said).length;
      }),
      { numRuns: 50 },
    );
    expect(pages).toBeGreaterThan(10);
    expect(monitors).toBeGreaterThan(10);
  });

  test("what export writes makes the same of an empty installation, once its secrets are given", async () => {
    await using app = await createTestApp();
    await using other = await createTestApp();
    await fc.assert(
      fc.asyncProperty(anyActs, async (acts) => {
        await furnishAnyhow(app, acts);
        await furnishAnyhow(other, []);
        const text = await written(app);
        const given = await app.ctx.db.write((tx) => withSecrets(exportFile(tx)));
        const env = { HEADER: "h", BODY: "b" };
        const first = await apply(other, writeApplyFile(given, []), true, env);
        expect(await written(other)).toBe(text);
        // It can be told what it did, too.
        expect(first.changes.map(describeChange)).toHaveLength(first.changes.length);
        expect((await apply(other, text, true)).changes).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
