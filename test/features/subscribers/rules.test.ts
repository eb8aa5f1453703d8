import { describe, expect, test } from "bun:test";
import {
  CLIENT_LIMITS,
  clientWait,
  decideSignUp,
  hourlyLimit,
  type SignUpFacts,
} from "../../../src/features/subscribers/rules";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";

const NOW = Date.parse("2026-03-10T12:00:00Z");
const HERE = { pageId: "page_a", now: NOW };
const UNKNOWN: SignUpFacts = {
  isSubscribed: false,
  suppressions: [],
  recent: [],
  lastMailAt: undefined,
  lastReminderAt: undefined,
};

const ago = (ms: number) => NOW - ms;
const sent = (pageId: string, ms: number) => ({ pageId, at: ago(ms) });

describe("the decision about a sign-up", () => {
  const cases: [string, Partial<SignUpFacts>, ReturnType<typeof decideSignUp>][] = [
    ["an unknown address", {}, "confirmation"],
    ["a request 10 minutes ago", { recent: [sent("page_a", 10 * MINUTE_MS)] }, "confirmation"],
    ["a request just before", { recent: [sent("page_a", 10 * MINUTE_MS - 1)] }, undefined],
    ["one for another page just before", { recent: [sent("page_b", MINUTE_MS)] }, undefined],
    [
      "two for the page today",
      { recent: [sent("page_a", HOUR_MS), sent("page_a", 2 * HOUR_MS)] },
      "confirmation",
    ],
    [
      "three for the page today",
      { recent: [1, 2, 3].map((hours) => sent("page_a", hours * HOUR_MS)) },
      undefined,
    ],
    [
      "four for other pages today",
      { recent: [1, 2, 3, 4].map((hours) => sent("page_b", hours * HOUR_MS)) },
      "confirmation",
    ],
    [
      "five in all today",
      { recent: [1, 2, 3, 4, 5].map((hours) => sent(`page_${hours}`, hours * HOUR_MS)) },
      undefined,
    ],
    ["a subscriber", { isSubscribed: true }, "already_subscribed"],
    [
      "a subscriber who got a reminder yesterday",
      { isSubscribed: true, lastReminderAt: ago(DAY_MS) },
      "already_subscribed",
    ],
    [
      "a subscriber who got a reminder today",
      { isSubscribed: true, lastReminderAt: ago(DAY_MS - 1) },
      undefined,
    ],
    ["a bounced address", { suppressions: ["bounced"] }, "confirmation"],
    [
      "a bounced subscriber, whom confirming makes reachable again",
      { isSubscribed: true, suppressions: ["bounced"] },
      "confirmation",
    ],
    [
      "a bounced address with a mail 7 days ago",
      { suppressions: ["bounced"], lastMailAt: ago(7 * DAY_MS) },
      "confirmation",
    ],
    [
      "a bounced address with a mail less than 7 days ago",
      { suppressions: ["bounced"], lastMailAt: ago(7 * DAY_MS - 1) },
      undefined,
    ],
    [
      "an address with soft failures and a mail less than 7 days ago",
      { suppressions: ["soft"], lastMailAt: ago(7 * DAY_MS - 1) },
      undefined,
    ],
    [
      "an address with an abuse report and a mail 30 days ago",
      { suppressions: ["complained"], lastMailAt: ago(30 * DAY_MS) },
      "confirmation",
    ],
    [
      "an address with an abuse report and a mail less than 30 days ago",
      { suppressions: ["complained", "bounced"], lastMailAt: ago(30 * DAY_MS - 1) },
      undefined,
    ],
    ["an address that declined", { suppressions: ["declined"] }, undefined],
    ["a blocked subscriber", { isSubscribed: true, suppressions: ["blocked"] }, undefined],
    ["an address that left the page", { suppressions: ["unsubscribed"] }, "confirmation"],
    ["an erased address", { suppressions: ["erased"] }, "confirmation"],
  ];
  test.each(cases)("%s", (_name, facts, expected) => {
    expect(decideSignUp({ ...UNKNOWN, ...facts }, HERE)).toBe(expected as never);
  });
});

describe("the limits of sign-ups", () => {
  test("a client has 10 an hour and 30 a day", () => {
    const every = (count: number, ms: number) =>
      Array.from({ length: count }, (_, index) => ago((index + 1) * ms));
    const wait = (times: number[]) => clientWait(CLIENT_LIMITS, times, NOW);
    expect(wait(every(9, MINUTE_MS))).toBeUndefined();
    expect(wait(every(10, MINUTE_MS))?.waitMs).toBe(50 * MINUTE_MS);
    expect(wait(every(10, 6 * MINUTE_MS))).toBeUndefined();
    expect(wait(every(29, 30 * MINUTE_MS))).toBeUndefined();
    expect(wait(every(30, 30 * MINUTE_MS))?.waitMs).toBe(9 * HOUR_MS);
  });

  test("the limit of an hour is lower while fewer than 5 % of the last 200 were confirmed", () => {
    const limits = { usual: 1_000, reduced: 100 };
    expect(hourlyLimit(limits, { sampled: 200, confirmed: 10 })).toBe(1_000);
    expect(hourlyLimit(limits, { sampled: 200, confirmed: 9 })).toBe(100);
    expect(hourlyLimit(limits, { sampled: 199, confirmed: 0 })).toBe(1_000);
  });
});
