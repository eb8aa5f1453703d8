import { describe, expect, test } from "bun:test";
import { MINUTE_MS, SECOND_MS } from "../../../../src/kernel/time";
import { answers, fails, openWatch } from "../../../support/engine-site";

describe("outages of monitors", () => {
  test("an outage and its causes are dated from the first failed check", async () => {
    await using watch = await openWatch();
    const { page, components } = await watch.app.page({}, ["API"]);
    const api = components["API"] ?? "";
    const { id } = await watch.monitor({ component_ids: [api] });
    await watch.clock.advance(5 * MINUTE_MS);
    expect(watch.state(id)).toBe("up");
    expect(watch.status(api)).toBe("operational");

    watch.let("api.test", fails());
    await watch.clock.advance(2 * MINUTE_MS);

    const [first] = watch.checks(id).filter(({ outcome }) => outcome === "failed");
    const downAt = (first?.at ?? 0) - watch.begin;
    expect(watch.state(id)).toBe("down");
    expect(watch.status(api)).toBe("major_outage");
    expect(watch.timeline(id).at(-1)).toBe(`down ${downAt / 1000} →`);
    expect(watch.marks(page.id)).toEqual([`major_outage ${downAt / 1000} →`]);

    watch.let("api.test", answers());
    await watch.clock.advance(2 * MINUTE_MS);
    const recovered = watch
      .checks(id)
      .find(({ at, outcome }) => outcome === "ok" && at > (first?.at ?? 0));
    const upAt = (recovered?.at ?? 0) - watch.begin;
    expect(watch.status(api)).toBe("operational");
    expect(watch.marks(page.id)).toEqual([`major_outage ${downAt / 1000} → ${upAt / 1000}`]);
    expect(watch.timeline(id).slice(-2)).toEqual([
      `down ${downAt / 1000} → ${upAt / 1000}`,
      `up ${upAt / 1000} →`,
    ]);
  });

  test("an outage starts after as many consecutive failures as the threshold, checked at the retry interval", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ failure_threshold: 3, retry_interval_seconds: 5 });
    await watch.clock.advance(SECOND_MS);
    watch.let("api.test", fails());
    const failures = () => watch.checks(id).filter(({ outcome }) => outcome === "failed");
    while (watch.state(id) === "up") {
      expect(failures().length).toBeLessThan(3);
      await watch.clock.advance(SECOND_MS);
    }
    expect(watch.state(id)).toBe("down");
    const [a = 0, b = 0, c = 0, ...more] = failures().map(({ at }) => at);
    expect(more).toEqual([]);
    for (const pause of [b - a, c - b]) {
      expect(pause).toBeGreaterThanOrEqual(5_000);
      expect(pause).toBeLessThan(5_100);
    }
  });
});
