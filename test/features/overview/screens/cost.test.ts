import { expect, test } from "bun:test";
import { readAttention } from "../../../../src/features/overview/screens/attention";
import { readCurrentState } from "../../../../src/features/overview/screens/current-state";
import { readLastDay } from "../../../../src/features/overview/screens/blocks";
import { shareRead } from "../../../../src/ui/frame/shared-read";
import { createIncidentCache } from "../../../../src/features/incidents/records";
import { createTestApp } from "../../../support/app";
import { counted } from "../../../support/counted-transaction";
import { readHtml } from "../../../support/html";

/** Counts the statements that the overview of an installation with this many pages reads. */
async function statementsWith(pages: number): Promise<number> {
  await using app = await createTestApp();
  for (let page = 0; page < pages; page++) {
    // oxlint-disable-next-line no-await-in-loop
    await app.page({ slug: `page-${page}` });
  }
  const now = app.clock.now();
  return app.ctx.db.write((tx) => {
    const counting = counted(tx);
    const state = readCurrentState(counting.tx, createIncidentCache(), now);
    readAttention(counting.tx, state, { role: "owner", now });
    readLastDay(counting.tx, state, now);
    return counting.statements();
  });
}

test("the overview of many pages reads as many statements as that of one", async () => {
  expect(await statementsWith(30)).toBe(await statementsWith(1));
});

test("dashboards that ask in the same second share a read until something is stored", async () => {
  await using app = await createTestApp();
  let reads = 0;
  const read = shareRead(app.ctx.db, () => (reads += 1));
  const start = app.clock.now();
  expect([read(start), read(start + 999)]).toEqual([1, 1]);
  expect(read(start + 1_000)).toBe(2);
  await app.page();
  expect([read(start + 1_000), read(start + 1_000)]).toEqual([3, 3]);
});

test("a change shows at once to every role, although reads are shared", async () => {
  await using app = await createTestApp();
  const [admin, viewer] = [await app.signedIn("admin"), await app.signedIn("viewer")];
  const sessions = [admin, viewer];
  // An installation with first steps and without monitors shows little else.
  await app.call("/admin/first-steps/hide", { session: admin, form: {} });
  for (const name of ["One", "Two"]) {
    // oxlint-disable-next-line no-await-in-loop
    await app.page({ slug: name.toLowerCase(), name });
    for (const session of sessions) {
      // oxlint-disable-next-line no-await-in-loop
      const page = readHtml((await app.call("/admin", { session })).text);
      expect(page.texts("#pages .row-title").join()).toContain(name);
      expect(page.texts("#changes")).toHaveLength(session === admin ? 1 : 0);
    }
  }
});
