import { expect, test } from "bun:test";
import { applyFile, readApplyFile } from "../../../src/features/apply";
import { CLI_ACTOR } from "../../../src/domain/actor";
import { createTestApp } from "../../support/app";
import { apply } from "../../support/apply";
import { counted } from "../../support/counted-transaction";

/** Webhooks for a page and at a URL that is a secret. */
const fileOf = (count: number) =>
  JSON.stringify({
    pages: [{ slug: "big", name: "Big" }],
    webhooks: Array.from({ length: count }, (_, n) => ({
      ref: `w${n}`,
      format: "discord",
      url: `https://discord.com/api/webhooks/${n}/token`,
      page: "big",
    })),
  });

/** Counts the statements needed to apply a file a second time. */
async function costOf(count: number): Promise<number> {
  await using app = await createTestApp();
  await apply(app, fileOf(count));
  const file = readApplyFile(fileOf(count));
  return app.ctx.db.write((tx) => {
    const { tx: countedTx, statements } = counted(tx);
    const { changes } = applyFile(app.ctx, countedTx, file, { prune: true, actor: CLI_ACTOR });
    expect(changes).toEqual([]);
    return statements();
  });
}

test("a file that changes nothing is applied with as few statements for 100 webhooks as for 10", async () => {
  const few = await costOf(10);
  expect(few).toBeLessThan(20);
  expect(await costOf(100)).toBe(few);
});
