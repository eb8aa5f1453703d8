import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import type { MailHold, SuppressionReason } from "../../../src/base/mail-address";
import { listSuppressionsOf } from "../../../src/features/mail/suppression-store";
import { addBounce, suppress, undoSuppression } from "../../../src/features/mail/suppressions";
import { suppressionsOfHold, undoSuppressions } from "../../../src/features/mail/hold";
import { trimMails } from "../../../src/features/mail/waiting";
import { reactivateSubscriber } from "../../../src/features/subscribers/subscribers";
import { DAY_MS } from "../../../src/base/time";
import { createTestApp } from "../../support/app";
import { storeMail, storeSubscriber } from "../../support/mailed-subscriber";

/** Creates a subscriber to whom a mail failed, and the ways in which an admin ends the suppression. */
async function createFailing() {
  const app = await createTestApp();
  const { ctx } = app;
  const { page } = await app.page({ name: "Acme" });
  const since = ctx.clock.now();
  const { row, mailId } = await ctx.db.write((tx) => {
    const row = storeSubscriber(ctx, tx, { pageId: page.id, address: "ada@example.com" });
    return { row, mailId: storeMail(ctx, tx, row) };
  });
  const { addressHmac } = row;
  const hold: MailHold = { reason: "failures", at: since, since, endedAt: null };
  /** Each returns true if it ended the suppression. */
  const ways = {
    settings: (reason: SuppressionReason) =>
      ctx.db.write((tx) => {
        undoSuppression(ctx, tx, { addressHmac, reason, request: "" }, CLI_ACTOR);
        return true;
      }),
    subscriber: (reason: SuppressionReason) =>
      ctx.db.write((tx) => {
        reactivateSubscriber(ctx, tx, row, { reason }, CLI_ACTOR);
        return true;
      }),
    hold: () =>
      ctx.db.write((tx) => undoSuppressions(ctx, tx, hold, new Set([mailId]), CLI_ACTOR) > 0),
  };
  return {
    app,
    hold,
    row,
    ways,
    suppress: (reason: SuppressionReason) =>
      ctx.db.write((tx) => suppress(ctx, tx, { addressHmac, reason, mailId })),
    reasons: () =>
      listSuppressionsOf(ctx.db, { addressHmac, pageId: null }).map(({ reason }) => reason),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const WAYS = ["settings", "subscriber", "hold"] as const;

describe("an admin ends a suppression after failures once in 7 days", () => {
  for (const first of WAYS) {
    for (const second of WAYS) {
      test(`by ${first}, then by ${second}`, async () => {
        await using failing = await createFailing();
        const { app, ways, hold } = failing;
        await failing.suppress("bounced");
        await failing.suppress("soft");
        expect(await ways[first]("bounced")).toBe(true);
        expect(failing.reasons()).toEqual([]);
        app.clock.setWallClock(app.clock.now() + 7 * DAY_MS - 1);
        await app.ctx.db.write((tx) => {
          const now = app.clock.now();
          trimMails(tx, { before: now, now });
        });
        await failing.suppress("soft");
        const again = () => ways[second]("soft").catch((error: Error) => error.message);
        const refused = await again();
        expect(second === "hold" ? refused : String(refused)).toBe(
          second === "hold"
            ? false
            : "This was ended less than 7 days ago, and mail to the address failed again.",
        );
        expect(suppressionsOfHold(app.ctx.db, hold, app.clock.now())).toEqual([]);
        expect(failing.reasons()).toEqual(["soft"]);
        app.clock.setWallClock(app.clock.now() + 1);
        expect(await again()).toBe(true);
        expect(failing.reasons()).toEqual([]);
      });
    }
  }
});

test("an uncertain bounce from before an undo does not suppress the address again", async () => {
  await using failing = await createFailing();
  const { app, row, ways } = failing;
  const { ctx, clock } = app;
  const bounce = () => {
    clock.setWallClock(clock.now() + DAY_MS);
    return ctx.db.write((tx) => {
      const mailId = storeMail(ctx, tx, row, { status: "bounced" });
      const mail = { subscriberId: row.id, recipient: "ada@example.com" };
      addBounce(ctx, tx, mail, false, { mailId, note: "550 No" });
    });
  };
  await bounce();
  expect(failing.reasons()).toEqual([]);
  await bounce();
  expect(failing.reasons()).toEqual(["bounced"]);
  clock.setWallClock(clock.now() + 1);
  await ways.settings("bounced");
  await bounce();
  expect(failing.reasons()).toEqual([]);
  await bounce();
  expect(failing.reasons()).toEqual(["bounced"]);
});

test("undoing the suppressions of a hold ends no complaint and no refusal by a person", async () => {
  await using failing = await createFailing();
  await failing.suppress("complained");
  await failing.suppress("declined");
  const { app, hold, ways } = failing;
  expect(suppressionsOfHold(app.ctx.db, hold, app.clock.now())).toEqual([]);
  expect(await ways.hold()).toBe(false);
  expect(failing.reasons().toSorted()).toEqual(["complained", "declined"]);
});
