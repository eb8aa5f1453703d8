import { expect, test } from "bun:test";
import { parseMailAddress, type SuppressionReason } from "../../../src/base/mail-address";
import { addressHmac, ensureMailKey } from "../../../src/features/mail/tokens";
import { suppress } from "../../../src/features/mail/suppressions";
import { decideSignUps, requestSubscription } from "../../../src/features/subscribers/sign-up";
import { DAY_MS, MINUTE_MS } from "../../../src/base/time";
import type { TestApp } from "../../support/app";
import { createSubscribingSite } from "../../support/subscribing";

const SUPPRESSED: readonly SuppressionReason[] = ["bounced", "soft", "complained", "blocked"];

/** Returns the texts of the statements that run during some work, in order. */
async function statementsDuring({ ctx }: TestApp, work: () => Promise<unknown>): Promise<string[]> {
  const { statements } = ctx.db;
  const { prepared, preparedChange } = statements;
  const texts: string[] = [];
  const noted = <Made>(made: Made, text: (made: Made) => string): Made => {
    texts.push(text(made));
    return made;
  };
  Object.assign(statements, {
    prepared: (build: Parameters<typeof prepared>[0]) =>
      noted(prepared.call(statements, build), (made) => made.getQuery().sql),
    preparedChange: (build: Parameters<typeof preparedChange>[0]) =>
      noted(preparedChange.call(statements, build), (made) => made.sql),
  });
  await work();
  Object.assign(statements, { prepared, preparedChange });
  return texts;
}

test("a sign-up is answered with the same text after the same statements, whatever is known of the address", async () => {
  await using site = await createSubscribingSite();
  const { app } = site;
  await site.subscribed("subscribed@example.com");
  const left = await site.subscribed("left@example.com");
  await app.call(site.path("unsubscribe", left), { form: { action: "unsubscribe" } });
  const erased = await site.subscribed("erased@example.com");
  await app.call(site.path("manage", erased), { form: { action: "erase" } });
  await site.requested("declined@example.com");
  const declined = site.requests().at(-1) ?? { id: "" };
  await app.call(site.path("decline", declined), { form: {} });
  await site.requested("requested@example.com");
  await app.ctx.db.write((tx) => {
    const key = ensureMailKey(app.ctx, tx);
    for (const reason of SUPPRESSED) {
      suppress(app.ctx, tx, { addressHmac: addressHmac(key, `${reason}@example.com`), reason });
    }
  });
  await app.clock.advance(DAY_MS);

  const kinds = ["unknown", "subscribed", "left", "erased", "declined", "requested", ...SUPPRESSED];
  const seen = new Map<string, string>();
  const sizes = new Set<number>();
  // The first sign-up of a process loads code.
  await site.signUp({ email: "first@example.com" });
  for (const kind of kinds) {
    let answer: Awaited<ReturnType<typeof site.signUp>> | undefined;
    const statements = await statementsDuring(app, async () => {
      answer = await site.signUp({ email: `${kind}@example.com` });
    });
    const { status, text, headers } = answer ?? (await site.signUp());
    const facts = { status, text, location: headers.get("location"), statements };
    seen.set(JSON.stringify(facts), kind);
    sizes.add(statements.length);
    await site.decide();
  }
  expect([...seen.values()]).toHaveLength(1);
  // Otherwise nothing was compared.
  expect(Math.max(...sizes)).toBeGreaterThan(3);
});

test("10,000 sign-ups from 2,000 addresses at one recipient cause at most 3 mails a day", async () => {
  await using site = await createSubscribingSite();
  const { ctx, clock } = site.app;
  site.worker.cancel();
  const spellings = ["ann.lee@example.com", "annlee+a@example.com", "AnnLee@example.com"];
  const addresses = spellings.map((text) => parseMailAddress(text));
  const choices = { scope: "page" as const, targets: [], events: ["incidents" as const] };
  let stored = 0;
  for (let round = 0; round < 100; round++) {
    await ctx.db.write((tx) => {
      for (let index = 0; index < 100; index++, stored++) {
        const address = addresses[stored % spellings.length];
        if (!address || "error" in address) throw new Error("the address is invalid");
        const number = stored % 2_000;
        const ip = `198.51.${Math.floor(number / 250)}.${number % 250}`;
        const client = { ip, network: ip };
        requestSubscription(ctx, tx, {
          pageId: site.page.id,
          address,
          choices,
          client,
          isByProgram: false,
        });
      }
    });
    while ((await ctx.db.write((tx) => decideSignUps(ctx, tx))).length > 0);
    await clock.advance(14 * MINUTE_MS);
  }
  expect(stored).toBe(10_000);
  expect(site.requests()).toHaveLength(10_000);
  expect(site.mails()).toHaveLength(3);
}, 600_000);
