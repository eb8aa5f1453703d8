import { describe, expect, test } from "bun:test";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { answers, fails, openEngineSite } from "../../../support/engine-site";

describe("outages of monitors", () => {
  test("an outage and its causes are dated from the first failed check", async () => {
    await using site = await openEngineSite();
    const { page, components } = await site.app.page({}, ["API"]);
    const api = components["API"] ?? "";
    const { id } = await site.monitor({ component_ids: [api] });
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(id)).toBe("up");
    expect(site.status(api)).toBe("operational");

    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);

    const [first] = site.checks(id).filter(({ outcome }) => outcome === "failed");
    const downAt = (first?.at ?? 0) - site.begin;
    expect(site.state(id)).toBe("down");
    expect(site.status(api)).toBe("major_outage");
    expect(site.timeline(id).at(-1)).toBe(`down ${downAt / 1000} →`);
    expect(site.causes(page.id)).toEqual([`major_outage ${downAt / 1000} →`]);

    site.let("api.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    const recovered = site
      .checks(id)
      .find(({ at, outcome }) => outcome === "ok" && at > (first?.at ?? 0));
    const upAt = (recovered?.at ?? 0) - site.begin;
    expect(site.status(api)).toBe("operational");
    expect(site.causes(page.id)).toEqual([`major_outage ${downAt / 1000} → ${upAt / 1000}`]);
    expect(site.timeline(id).slice(-2)).toEqual([
      `down ${downAt / 1000} → ${upAt / 1000}`,
      `up ${upAt / 1000} →`,
    ]);
  });

  test("an outage starts after as many consecutive failures as the threshold, checked at the retry interval", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ failure_threshold: 3, retry_interval_seconds: 5 });
    await site.clock.advance(SECOND_MS);
    site.let("api.test", fails());
    const failures = () => site.checks(id).filter(({ outcome }) => outcome === "failed");
    while (site.state(id) === "up") {
      expect(failures().length).toBeLessThan(3);
      await site.clock.advance(SECOND_MS);
    }
    expect(site.state(id)).toBe("down");
    const [a = 0, b = 0, c = 0, ...more] = failures().map(({ at }) => at);
    expect(more).toEqual([]);
    for (const pause of [b - a, c - b]) {
      expect(pause).toBeGreaterThanOrEqual(5_000);
      expect(pause).toBeLessThan(5_100);
    }
  });
});
