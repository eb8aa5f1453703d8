import { expect, test } from "bun:test";
import fc from "fast-check";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { openEngineSite, type Target } from "../../../support/engine-site";

/** Addresses of the hosts: in three networks, and one that two monitors share. */
const ADDRESSES = ["9.9.9.9", "9.9.9.10", "8.8.8.8", "8.8.8.8", "1.1.1.1"];

/** Longest time from the begin of an outage to its last counted failure, with thresholds of up to 3. */
const DETECTED_MS = (60 + 2 * 20 + 3 * 10 + 11) * SECOND_MS;
const HOLD_MS = 3 * MINUTE_MS;
/** Longest time that a restart adds: the first checks are spread over a minute, and a hold may begin again. */
const RESTART_MS = MINUTE_MS + 30 * SECOND_MS + HOLD_MS;

const step = fc.record({
  afterMs: fc.integer({ min: 100, max: 150_000 }),
  what: fc.constantFrom("lose", "mend", "visit", "visits", "flap", "restart"),
});

const story = fc.record({
  thresholds: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 5, maxLength: 5 }),
  isHanging: fc.boolean(),
  /** Hosts that really fail, and the number of steps before. */
  broken: fc.uniqueArray(fc.constantFrom(...ADDRESSES), {
    minLength: 1,
  }),
  before: fc.array(step, { maxLength: 6 }),
  after: fc.array(step, { maxLength: 6 }),
});

test(
  "an outage that lasts is reported within its threshold and the longest hold, with any losses of the network and restarts",
  async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ thresholds, isHanging, broken, before, after }) => {
        await using site = await openEngineSite();
        const { clock } = site;
        let isLost = false;
        let isBroken = false;
        let visitsUntil = 0;
        clock.every(400, () => {
          if (!isLost && clock.now() < visitsUntil) site.app.ctx.outside.answered("4.4.4.4");
        });
        const target =
          (address: string): Target =>
          ({ contact, signal }) => {
            const fails = isLost || (isBroken && broken.includes(address));
            Object.assign(contact ?? {}, { host: address, addresses: [address] });
            if (!fails) return { outcome: "ok", latencyMs: 20, message: null };
            const silence = isHanging ? "timeout" : "connect";
            Object.assign(contact ?? {}, { silence });
            const failure = { outcome: "failed", latencyMs: null, message: "No answer." } as const;
            if (!isHanging) return failure;
            return new Promise((resolve) => {
              signal.addEventListener("abort", () => resolve(failure), { once: true });
            });
          };
        const ids: string[] = [];
        for (const [nth, address] of ADDRESSES.entries()) {
          site.let(`m${nth}.test`, target(address));
          const failure_threshold = thresholds[nth] ?? 1;
          ids.push((await site.monitor({ name: `m${nth}`, failure_threshold })).id);
        }
        await clock.advance(MINUTE_MS);
        let restarts = 0;
        const take = async ({ afterMs, what }: { afterMs: number; what: string }) => {
          await clock.advance(afterMs);
          if (what === "lose") isLost = true;
          else if (what === "mend") isLost = false;
          else if (what === "visit" && !isLost) site.app.ctx.outside.answered("4.4.4.4");
          else if (what === "visits") visitsUntil = clock.now() + MINUTE_MS;
          else if (what === "flap") {
            for (let nth = 0; nth < 4; nth++) {
              isLost = !isLost;
              await clock.advance(1_300);
            }
          } else if (what === "restart") {
            restarts += 1;
            site.kill();
            await clock.advance(10 * SECOND_MS);
            await site.start();
          }
        };
        for (const each of before) await take(each);
        isBroken = true;
        const begin = clock.now();
        restarts = 0;
        for (const each of after) await take(each);
        const boundMs = DETECTED_MS + HOLD_MS + restarts * RESTART_MS;
        await clock.advance(Math.max(0, begin + boundMs - clock.now()));
        for (const [nth, address] of ADDRESSES.entries()) {
          if (!broken.includes(address)) continue;
          const spans = site.timeline(ids[nth] ?? "").filter((span) => span.startsWith("down"));
          const last = spans.at(-1);
          const startedMs = Number(last?.split(" ")[1]) * 1_000 + site.begin;
          expect(last, "the outage is reported, and goes on").toEndWith("→");
          expect(startedMs).toBeLessThanOrEqual(begin + boundMs);
        }
      }),
      { numRuns: 60 },
    );
  },
  10 * MINUTE_MS,
);
