import { describe, expect, spyOn, test } from "bun:test";
import {
  classifyReply,
  domainShare,
  FailureWindow,
  fullRate,
  isSecondBounce,
  isSoftBounce,
  isStoppedBy,
  type MailKind,
  mailingConnections,
  rateWaitMs,
  refilledRate,
  retryWaitMs,
} from "../../../src/features/mail/rules";
import { cleanReply, type RelayStage } from "../../../src/features/mail/reply";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";

function meaningOf(stage: RelayStage, reply: string | null) {
  const [, code, enhanced] = /^(\d{3})(?: (\d\.\d+\.\d+))?/.exec(reply ?? "") ?? [];
  return classifyReply({
    stage,
    code: code === undefined ? null : Number(code),
    enhanced: enhanced ?? null,
    text: "",
  });
}

const SENT = { result: "sent" } as const;
const RETRY = { result: "retry" } as const;
const FAILED = { result: "failed" } as const;
const UNAVAILABLE = { result: "relay_unavailable" } as const;
const BOUNCED = { result: "bounced", isCertain: true } as const;
const MAYBE_BOUNCED = { result: "bounced", isCertain: false } as const;

describe("the meaning of a reply", () => {
  test.each([
    ["message", "250 2.0.0", SENT],
    ["message", "251", SENT],
    ["rcpt", "450 4.2.0", RETRY],
    ["rcpt", "451", RETRY],
    ["rcpt", "452 4.2.2", RETRY],
    ["data", "451 4.3.0", RETRY],
    ["message", "451 4.7.1", RETRY],
    ["rcpt", "550 5.1.1", BOUNCED],
    ["rcpt", "550 5.1.2", BOUNCED],
    ["rcpt", "501 5.1.3", BOUNCED],
    ["rcpt", "551 5.1.6", BOUNCED],
    ["rcpt", "556 5.1.10", BOUNCED],
    ["rcpt", "550 5.2.1", BOUNCED],
    ["rcpt", "550", MAYBE_BOUNCED],
    ["rcpt", "551", MAYBE_BOUNCED],
    ["rcpt", "553", MAYBE_BOUNCED],
    ["rcpt", "552", FAILED],
    ["rcpt", "554", FAILED],
    ["rcpt", "550 5.7.1", FAILED],
    ["rcpt", "552 5.2.2", FAILED],
    ["rcpt", "553 5.6.7", FAILED],
    ["data", "554 5.5.1", FAILED],
    ["message", "552 5.3.4", FAILED],
    ["message", "550", FAILED],
    ["message", "550 5.1.1", FAILED],
    ["connect", null, UNAVAILABLE],
    ["greeting", "554", UNAVAILABLE],
    ["greeting", "450", UNAVAILABLE],
    ["ehlo", "500", UNAVAILABLE],
    ["starttls", null, UNAVAILABLE],
    ["starttls", "454 4.7.0", UNAVAILABLE],
    ["auth", "535 5.7.8", UNAVAILABLE],
    ["auth", "454", UNAVAILABLE],
    ["mail", "530 5.7.0", UNAVAILABLE],
    ["mail", "451", UNAVAILABLE],
    ["mail", null, UNAVAILABLE],
    ["rcpt", "421 4.3.2", UNAVAILABLE],
    ["data", "421", UNAVAILABLE],
    ["message", "421 4.3.0", UNAVAILABLE],
    ["rcpt", null, UNAVAILABLE],
    ["data", null, UNAVAILABLE],
    ["message", null, UNAVAILABLE],
  ] as const)("a reply is classified by its stage and codes: %s, %s", (stage, reply, meaning) => {
    expect(meaningOf(stage, reply)).toEqual(meaning);
  });
});

describe("waits of refused mails", () => {
  test("a mail waits 1, 5, 15 and 30 minutes, then 1, 2, 4 and 8 hours, and then has failed", () => {
    const waits = Array.from({ length: 9 }, (_, tries) => retryWaitMs(tries, 0.5));
    expect(waits).toEqual([
      MINUTE_MS,
      5 * MINUTE_MS,
      15 * MINUTE_MS,
      30 * MINUTE_MS,
      HOUR_MS,
      2 * HOUR_MS,
      4 * HOUR_MS,
      8 * HOUR_MS,
      undefined,
    ]);
  });

  test("a wait varies by a fifth in both directions", () => {
    expect(retryWaitMs(0, 0)).toBe(48 * SECOND_MS);
    expect(retryWaitMs(0, 1)).toBe(72 * SECOND_MS);
  });
});

describe("the limit of mails a minute", () => {
  test("the limit has room for the mails of ten seconds and refills evenly", () => {
    let rate = fullRate(600, 0);
    expect(rate.tokens).toBe(100);
    rate.tokens = 0;
    expect(rateWaitMs(rate, 600)).toBe(100);
    rate = refilledRate(rate, 600, 100);
    expect(rateWaitMs(rate, 600)).toBe(0);
    expect(refilledRate(rate, 600, HOUR_MS).tokens).toBe(100);
  });

  test("a limit of one mail a minute lets one mail start each minute", () => {
    const rate = fullRate(1, 0);
    expect(rate.tokens).toBe(1);
    expect(rateWaitMs({ tokens: 0, at: 0 }, 1)).toBe(MINUTE_MS);
  });
});

test("mailings leave one connection to other mails, and one domain half of them to others", () => {
  expect([1, 2, 4, 32].map(mailingConnections)).toEqual([1, 1, 3, 31]);
  expect([1, 2, 3, 4, 32].map(domainShare)).toEqual([1, 1, 1, 2, 16]);
});

test("an address is suppressed by its third final failure if a week lies between the first and the last", () => {
  expect(isSoftBounce(3, 0, 7 * DAY_MS)).toBe(true);
  expect(isSoftBounce(2, 0, 30 * DAY_MS)).toBe(false);
  expect(isSoftBounce(30, 0, 7 * DAY_MS - 1)).toBe(false);
});

test("an uncertain bounce suppresses an address if the first one was at least a day ago", () => {
  expect(isSecondBounce(0, DAY_MS)).toBe(true);
  expect(isSecondBounce(0, DAY_MS - 1)).toBe(false);
  expect(isSecondBounce(null, DAY_MS)).toBe(false);
});

test("each reason of a suppression stops its kinds of mails and no others", () => {
  const kinds: MailKind[] = ["mailing", "alert", "confirmation", "account"];
  const stopped = (reason: Parameters<typeof isStoppedBy>[0]) =>
    kinds.filter((kind) => isStoppedBy(reason, kind));
  expect(stopped("bounced")).toEqual(["mailing", "alert"]);
  expect(stopped("soft")).toEqual(["mailing", "alert"]);
  expect(stopped("complained")).toEqual(["mailing", "alert"]);
  expect(stopped("unsubscribed")).toEqual(["mailing"]);
  expect(stopped("declined")).toEqual(["mailing", "confirmation"]);
  expect(stopped("blocked")).toEqual(["mailing", "alert", "confirmation"]);
  expect(stopped("erased")).toEqual([]);
});

test("more than 20 failures among the last 100 mails are too many", () => {
  const failures = new FailureWindow();
  const add = (count: number, isFailure: boolean) =>
    Array.from({ length: count }, () => failures.add(isFailure, 0)).at(-1);
  expect(add(200, false)).toBe(false);
  expect(add(20, true)).toBe(false);
  expect(failures.add(true, 0)).toBe(true);
  expect(add(99, false)).toBe(false);
  failures.clear();
  expect(add(20, true)).toBe(false);
});

test("long words of a server are cut before they are normalised, in time that grows with the square of their length", () => {
  const normalize = spyOn(String.prototype, "normalize");
  try {
    expect(cleanReply(`No such user ${"\u0315\u0300".repeat(1_000)}`)).toStartWith("No such user");
    const lengths = normalize.mock.contexts.map((text) => String(text).length);
    expect(lengths).toEqual([1_000]);
  } finally {
    normalize.mockRestore();
  }
});
