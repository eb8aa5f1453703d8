import { describe, expect, test } from "bun:test";
import type { AlarmKind } from "../../../src/features/alarms/kinds";
import { startPurger } from "../../../src/fleet/cdn";
import { createSignal, type Signal } from "../../../src/base/signal";
import { createTestClock, settle, type TestClock } from "../../support/clock";

/** Signals after which all answers are purged. */
const SIGNALS = ["addressesChanged", "settingsChanged"] as const;

const FORBIDDEN = { error: "The purge address answered 403.", retryAfterMs: 0 };

/** A purger whose requests are recorded with the seconds since its start. */
interface PurgerSite {
  clock: TestClock;
  signals: { pageChanged: Signal<string> } & Record<(typeof SIGNALS)[number], Signal<void>>;
  sent: [seconds: number, tags: string][];
  /** Calls of alarms. */
  alarms: string[];
  /** Result of each request; undefined for a success. */
  failure: typeof FORBIDDEN | undefined;
  purger: ReturnType<typeof startPurger>;
  /** Lets the purges of the start end. */
  started(): Promise<void>;
}

function createPurger(
  deps: Partial<Parameters<typeof startPurger>[1]> = {},
  clock = createTestClock(),
): PurgerSite {
  const start = clock.monotonic();
  const signals: PurgerSite["signals"] = {
    pageChanged: createSignal<string>(),
    addressesChanged: createSignal<void>(),
    settingsChanged: createSignal<void>(),
  };
  const sent: PurgerSite["sent"] = [];
  const alarms: string[] = [];
  const site: PurgerSite = {
    clock,
    signals,
    sent,
    alarms,
    failure: undefined,
    purger: startPurger(
      { clock, signals },
      {
        alarms: {
          raise: (kind: AlarmKind, detail: string) => void alarms.push(`${kind}: ${detail}`),
          clear: (kind: AlarmKind) => void alarms.push(`clear ${kind}`),
        },
        send: async (tags) => {
          sent.push([Math.round((clock.monotonic() - start) / 100) / 10, tags.join(" ")]);
          return site.failure;
        },
        ...deps,
      },
    ),
    async started() {
      await clock.advance(9_900);
      sent.length = 0;
      alarms.length = 0;
    },
  };
  return site;
}

describe("purging after a change", () => {
  test("all answers are purged at the start, at once and 5 seconds later", async () => {
    const { clock, sent } = createPurger();
    await clock.advance(60_000);
    expect(sent).toEqual([
      [0.1, "all"],
      [5.1, "all"],
    ]);
  });

  test("a changed page is purged at once and 5 seconds later, and other pages are not", async () => {
    const { clock, signals, sent, started } = createPurger();
    await started();
    signals.pageChanged.emit("pag_1");
    await clock.advance(60_000);
    expect(sent).toEqual([
      [10, "page-pag_1"],
      [15, "page-pag_1"],
    ]);
  });

  test("a timer that ends a fraction of a millisecond early sends no request without tags", async () => {
    const clock = createTestClock();
    const { after } = clock;
    clock.after = (delayMs, run) => after(delayMs > 1 ? delayMs - 0.5 : delayMs, run);
    const { signals, sent, started } = createPurger({}, clock);
    await started();
    signals.pageChanged.emit("pag_1");
    await clock.advance(60_000);
    expect(sent).toEqual([
      [10, "page-pag_1"],
      [15, "page-pag_1"],
    ]);
  });

  test.each(SIGNALS)("the signal %s purges all answers", async (name) => {
    const { clock, signals, sent, started } = createPurger();
    await started();
    signals.pageChanged.emit("pag_1");
    signals[name].emit();
    await clock.advance(60_000);
    expect(sent.map(([, tags]) => tags)).toEqual(["all", "all"]);
  });

  test("changes are gathered, requests are a second apart, and the last change is purged twice", async () => {
    const { clock, signals, sent, started } = createPurger();
    await started();
    for (let nth = 0; nth < 30; nth++) {
      signals.pageChanged.emit(nth % 2 === 0 ? "pag_1" : "pag_2");
      await clock.advance(100);
    }
    await clock.advance(60_000);
    expect(sent.map(([seconds]) => seconds)).toEqual([10, 11, 12, 13, 18]);
    expect(sent.at(-1)?.[1].split(" ").sort()).toEqual(["page-pag_1", "page-pag_2"]);
  });

  test("more than 30 pages are purged by the tag of all answers", async () => {
    const { clock, signals, sent, started } = createPurger();
    await started();
    for (let nth = 0; nth < 31; nth++) signals.pageChanged.emit(`pag_${nth}`);
    await clock.advance(60_000);
    expect(sent.map(([, tags]) => tags)).toEqual(["all", "all"]);
  });
});

describe("a purge address that fails", () => {
  test("a purge that fails is tried again with growing waits, raises an alarm at the second failure, and loses no tag", async () => {
    const site = createPurger();
    const { clock, signals, sent, alarms } = site;
    await site.started();
    site.failure = FORBIDDEN;
    signals.pageChanged.emit("pag_1");
    await clock.advance(500);
    expect(alarms).toEqual([]);
    expect(site.purger.state().error).toBe(FORBIDDEN.error);
    await clock.advance(1_000);
    expect(alarms).toEqual([
      "purge_failing: The purge address answered 403. Changes appear late until a purge succeeds.",
    ]);
    signals.pageChanged.emit("pag_2");
    await clock.advance(3_000);
    expect(sent).toEqual([
      [10, "page-pag_1"],
      [11, "page-pag_1"],
      [13, "page-pag_1 page-pag_2"],
    ]);
    site.failure = undefined;
    await clock.advance(60_000);
    expect(sent.slice(3)).toEqual([
      [17, "page-pag_1 page-pag_2"],
      [22, "page-pag_1 page-pag_2"],
    ]);
    expect(alarms.at(-1)).toBe("clear purge_failing");
    expect(site.purger.state().error).toBeUndefined();
  });

  test("a purge is tried again at the time that the answer names, at most 5 minutes later", async () => {
    const site = createPurger();
    await site.started();
    site.failure = { error: "The purge address answered 429.", retryAfterMs: 40_000 };
    site.signals.pageChanged.emit("pag_1");
    await site.clock.advance(1_000);
    site.failure = { ...site.failure, retryAfterMs: 86_400_000 };
    await site.clock.advance(339_000);
    site.failure = undefined;
    await site.clock.advance(60_000);
    expect(site.sent.map(([seconds]) => seconds)).toEqual([10, 50, 350, 355]);
  });

  test("a repeated purge that fails is tried again", async () => {
    const site = createPurger();
    await site.started();
    site.signals.pageChanged.emit("pag_1");
    await site.clock.advance(3_000);
    site.failure = FORBIDDEN;
    await site.clock.advance(2_500);
    site.failure = undefined;
    await site.clock.advance(60_000);
    expect(site.sent.map(([seconds]) => seconds)).toEqual([10, 15, 16, 21]);
  });
});

describe("waiting for a purge", () => {
  test("ends with the purge of what has changed before, and goes on while that fails", async () => {
    const site = createPurger();
    await site.started();
    site.failure = FORBIDDEN;
    const ended: string[] = [];
    site.signals.pageChanged.emit("pag_1");
    void site.purger.purged().then(() => ended.push("first"));
    await site.clock.advance(500);
    site.signals.pageChanged.emit("pag_2");
    void site.purger.purged().then(() => ended.push("second"));
    await site.clock.advance(1_000);
    expect([site.sent.length, ended]).toEqual([2, []]);
    site.failure = undefined;
    await site.clock.advance(10_000);
    expect(ended.toSorted()).toEqual(["first", "second"]);
  });

  test("does not end with a purge that began before the change", async () => {
    const answers: (() => void)[] = [];
    const site = createPurger({
      send: () => new Promise((resolve) => answers.push(() => resolve(undefined))),
    });
    await site.clock.advance(1_000);
    site.signals.addressesChanged.emit();
    let isPurged = false;
    void site.purger.purged().then(() => (isPurged = true));
    answers.shift()?.();
    await site.clock.advance(500);
    expect(isPurged).toBe(false);
    await site.clock.advance(1_000);
    answers.shift()?.();
    await settle();
    expect(isPurged).toBe(true);
  });
});

describe("purging with several nodes", () => {
  test("a purge waits until every node has the change, and only for the first of two requests", async () => {
    const applied: (() => void)[] = [];
    const site = createPurger({
      whenApplied: () => new Promise((resolve) => applied.push(resolve)),
    });
    await site.clock.advance(1_000);
    expect(site.sent).toEqual([]);
    applied.shift()?.();
    await settle();
    expect(site.sent).toEqual([[1, "all"]]);
    await site.clock.advance(60_000);
    expect(site.sent).toEqual([
      [1, "all"],
      [6, "all"],
    ]);
    expect(applied).toEqual([]);
  });

  test("a purge waits for nodes that do not answer or fail for at most 3 seconds", async () => {
    const silent = createPurger({ whenApplied: () => new Promise(() => {}) });
    await silent.clock.advance(60_000);
    expect(silent.sent[0]).toEqual([3.1, "all"]);
    const failing = createPurger({ whenApplied: () => Promise.reject(new Error("gone")) });
    await failing.clock.advance(60_000);
    expect(failing.sent[0]).toEqual([0.1, "all"]);
  });
});

describe("stopping", () => {
  test("a change that waits is purged, and later ones and repetitions are not", async () => {
    const { clock, signals, sent, started, purger } = createPurger();
    await started();
    signals.pageChanged.emit("pag_1");
    await purger.stop();
    signals.pageChanged.emit("pag_2");
    await clock.advance(60_000);
    expect(sent).toEqual([[9.9, "page-pag_1"]]);
  });

  test("a purge that gets no answer is given up after 2 seconds", async () => {
    const site = createPurger({
      send: (_tags, stopping) =>
        new Promise((resolve) => {
          stopping.addEventListener("abort", () => resolve(FORBIDDEN));
        }),
    });
    await site.clock.advance(1_000);
    let isStopped = false;
    void site.purger.stop().then(() => (isStopped = true));
    await site.clock.advance(1_900);
    expect(isStopped).toBe(false);
    await site.clock.advance(200);
    expect(isStopped).toBe(true);
  });
});
