import { expect, test } from "bun:test";
import { settle } from "../../../support/clock";
import { answers, hangs, openEngineSite, type Target } from "../../../support/engine-site";

/** Never ends, whatever its signal says. */
const ignoresItsEnd: Target = () => new Promise(() => {});

test.each([
  ["hangs", hangs()],
  ["ignores its end", ignoresItsEnd],
])(
  "a requested check that %s is answered at a stop, and made after the start",
  async (_, target) => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ name: "api", interval_seconds: 3_600 });
    await site.clock.advance(60_000);
    // The next slot of its hour may lie in the same minute as its first check.
    const made = site.checks(id).length;
    expect(made).toBeGreaterThan(0);
    site.let("api.test", target);
    const requested = site.engine.checkNow(id);
    const tried = site.engine.tryOut("http", { url: "https://api.test/" }, 60_000);
    await settle();
    expect(site.checkCount("api.test")).toBe(made + 2);

    // The clock stands still: nothing waits for a time limit.
    const ended = Promise.allSettled([requested, tried]);
    site.engine.dropChecks();
    const refused = { status: "rejected", reason: { code: "unavailable" } };
    expect(await ended).toMatchObject([refused, refused]);
    const late = Promise.allSettled([site.engine.checkNow(id)]);
    expect(await late).toMatchObject([refused]);
    await site.clock.advance(10_000);
    await site.stop();
    expect(site.checkCount("api.test")).toBe(made + 2);
    expect(site.checks(id)).toHaveLength(made);
    expect(site.app.logged.filter(({ level }) => level === "error")).toEqual([]);

    site.let("api.test", answers());
    await site.start();
    await site.clock.advance(60_000);
    expect(site.checks(id).length).toBeGreaterThan(made);
    expect(site.state(id)).toBe("up");
  },
);

test("reports of jobs are still stored between the end of checks and the stop", async () => {
  await using site = await openEngineSite();
  const { id } = await site.monitor({
    name: "job",
    type: "push",
    config: { grace_seconds: 60 },
  } as Parameters<typeof site.monitor>[0]);
  site.engine.dropChecks();
  const report = site.engine.heartbeat(id, { outcome: "ok", latencyMs: null, message: null });
  await site.clock.advance(2_000);
  await report;
  expect(site.checks(id)).toMatchObject([{ outcome: "ok" }]);
});
