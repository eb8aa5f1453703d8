import { expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";
import { readHtml } from "../support/html";
import { fails, openEngineSite } from "../support/engine-site";

test("time in which the server was down is shown as no data and excluded from uptime", async () => {
  await using site = await openEngineSite({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } });
  const { app, clock } = site;
  const { components } = await app.page({}, ["Watched", "By hand"]);
  await site.monitor({ component_ids: [components["Watched"] ?? ""], failure_threshold: 1 });
  const shown = async () => {
    const page = readHtml((await app.call("/status/acme")).text);
    const rows = page.texts(".component").map((row) => row.replaceAll(/\s+/g, " "));
    const [watched = "", byHand = ""] = rows;
    return {
      watched,
      byHand,
      drawn: page.attributes(".component:first-child .day", "class"),
      tables: page.texts(".axis tbody"),
    };
  };

  // From noon: two hours up, then a day and a half without data.
  await clock.advance(2 * HOUR_MS);
  site.kill();
  await clock.advance(DAY_MS + 12 * HOUR_MS);
  await site.start();
  await clock.advance(10 * MINUTE_MS);
  const after = await shown();
  expect(after.watched).toContain("Operational");
  // Checks start at a random second of a minute, and a part of a minute counts as a minute.
  expect(after.watched).toMatch(/10 Mar 2026: Operational \(10 h( 1 min)? no data\)/);
  expect(after.watched).toContain("11 Mar 2026: No data");
  expect(after.watched).toMatch(/12 Mar 2026: Operational \(2 h( 1 min)? no data\)/);
  // Less than a whole day is known.
  expect(after.watched).toContain("– no uptime yet");
  expect(after.drawn).toEqual(["day t-none", "day t-none", "day t-none"]);
  expect(after.byHand).not.toContain("no data");
  expect(after.tables[0]).toContain("11 Mar 2026No data");

  // Of what is known, 2 h 30 min but for the seconds around the gap, 20 min were down.
  site.let("api.test", fails());
  await clock.advance(20 * MINUTE_MS);
  const key = await app.keyWith("read:status");
  const { body } = await app.call("/api/v1/status/acme", { key });
  const [watched, byHand] = body.components;
  expect(watched.status).toBe("major_outage");
  expect(byHand.uptime_90d).toBe(1);
  const known = 2 * HOUR_MS + 30 * MINUTE_MS;
  expect(Math.abs(watched.uptime_90d - (1 - (20 * MINUTE_MS) / known))).toBeLessThan(0.01);
});
