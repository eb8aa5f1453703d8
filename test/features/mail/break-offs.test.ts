import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createMailSite, type MailSite } from "../../support/mail-site";
import { startMailboxes } from "../../support/scripted-mailboxes";

const STEP_MS = 500;
/** Mails per minute of the default settings. */
const RATE = "600";

/** Returns the simulated time until the relay has accepted the mails to all of these, up to `limitMs`. */
async function sendingTime(
  site: MailSite,
  { accepted }: { accepted: readonly string[] },
  others: readonly string[],
  limitMs: number,
): Promise<number> {
  const { clock } = site.app;
  const begunAt = clock.monotonic();
  await site.idle();
  const isDone = () => new Set(accepted).size >= others.length;
  while (!isDone() && clock.monotonic() - begunAt < limitMs) await site.pass(STEP_MS);
  expect(new Set(accepted)).toEqual(new Set(others));
  return clock.monotonic() - begunAt;
}

/** Sends a mailing to recipients of whom the relay breaks off at some. Returns the time for the others. */
async function timeOf(
  { good, bad }: { good: readonly string[]; bad: readonly string[] },
  { reply, env, limitMs }: { reply: string | null; env: Record<string, string>; limitMs: number },
): Promise<number> {
  await using relay = await startMailboxes(Object.fromEntries(bad.map((to) => [to, reply])));
  await using site = await createMailSite(relay, env);
  // Those at which the relay breaks off are written first.
  await site.mailing([...bad, ...good]);
  const time = await sendingTime(site, relay, good, limitMs);
  const statuses = site.statuses();
  expect(bad.map((to) => statuses[to])).toEqual(bad.map(() => "pending"));
  return time;
}

const users = (count: number, domainOf: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `user${index}@${domainOf(index)}`);

describe("recipients at which the relay breaks off", () => {
  for (const [what, good, bad, reply] of [
    ["one of 300 at one domain closes", users(300, () => "a.test"), ["bad@a.test"], null],
    ["one of 300 at one domain answers 421", users(300, () => "a.test"), ["bad@a.test"], "421 No"],
    [
      "two of 2,000 at one domain close",
      users(2_000, () => "a.test"),
      ["bad@a.test", "worse@a.test"],
      null,
    ],
    [
      "two of 2,000 at twenty domains close",
      users(2_000, (index) => `d${index % 20}.test`),
      ["bad@d0.test", "worse@d7.test"],
      null,
    ],
    [
      "all 40 of a domain close, of 600 in all",
      users(560, (index) => `d${index % 5}.test`),
      users(40, () => "bad.test"),
      null,
    ],
    [
      "30 of 600 at domains of their own close",
      users(570, (index) => `d${index % 200}.test`),
      Array.from({ length: 30 }, (_, index) => `bad@d${index * 6}-bad.test`),
      null,
    ],
  ] as const) {
    test(`the others are sent within twice the time if the connection of ${what}`, async () => {
      const options = { reply, env: { ALLCLEAR_SMTP_RATE: RATE }, limitMs: 60 * MINUTE_MS };
      const alone = await timeOf({ good, bad: [] }, options);
      expect(alone).toBeGreaterThan(10 * SECOND_MS);
      const among = await timeOf({ good, bad }, options);
      expect(among).toBeLessThanOrEqual(2 * alone);
    });
  }

  test("the failure of up to three recipients delays no other one by more than 15 s", async () => {
    const domain = fc.constantFrom("a.test", "b.test", "c.test");
    const installation = fc.record({
      good: fc.array(domain, { minLength: 1, maxLength: 60 }),
      bad: fc.array(domain, { minLength: 1, maxLength: 3 }),
      reply: fc.constantFrom(null, "421 4.7.0 Try again later"),
      connections: fc.integer({ min: 1, max: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(installation, async ({ good, bad, reply, connections }) => {
        const time = await timeOf(
          {
            good: good.map((one, index) => `user${index}@${one}`),
            bad: bad.map((one, index) => `bad${index}@${one}`),
          },
          {
            reply,
            env: { ALLCLEAR_SMTP_RATE: "0", ALLCLEAR_SMTP_CONNECTIONS: String(connections) },
            limitMs: MINUTE_MS,
          },
        );
        expect(time).toBeLessThanOrEqual(15 * SECOND_MS);
      }),
      { numRuns: 25 },
    );
  });

  test("mails that were set back at hundreds of domains hide no mail to another domain", async () => {
    const bad = users(300, (index) => `d${index}-bad.test`);
    await using relay = await startMailboxes(Object.fromEntries(bad.map((to) => [to, null])));
    await using site = await createMailSite(relay);
    const good = users(900, (index) => `d${index}.test`);
    await site.queue(...[...good, ...bad].map((to) => ({ to })));
    await site.pass(20 * MINUTE_MS, 5 * SECOND_MS);
    expect(new Set(relay.accepted)).toEqual(new Set(good));
    const later = users(50, (index) => `z${index}.test`);
    relay.accepted.splice(0);
    await site.queue(...later.map((to) => ({ to })));
    const time = await sendingTime(site, relay, later, 5 * MINUTE_MS);
    expect(time).toBeLessThanOrEqual(15 * SECOND_MS);
  });

  test("a mail that waits for another to the same recipient hides no mail to its domain", async () => {
    await using relay = await startMailboxes({ "ada@a.test": null });
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "4" });
    const about = { to: "ada@a.test", subjectId: "inc_1", class: 2 } as const;
    await site.queue(...Array.from({ length: 60 }, () => about));
    await site.queue({ to: "bob@a.test", class: 2 });
    await site.pass(15 * SECOND_MS, STEP_MS);
    expect(relay.accepted).toEqual(["bob@a.test"]);
  });
});
