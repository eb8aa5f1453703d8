import { expect, test } from "bun:test";
import { saveNoData } from "../../../src/features/monitors/spans-store";
import { touchPage } from "../../../src/features/pages/pages";
import { DAY_MS, HOUR_MS } from "../../../src/base/time";
import { createTestApp } from "../../support/app";

test("time without data is excluded from uptime and shown as no data in its day", async () => {
  await using app = await createTestApp();
  const { page, components } = await app.page({}, ["API", "Website"]);
  const key = await app.keyWith("read:status", "write:components");
  const componentId = components["API"] ?? "";
  const set = (status: string) =>
    app.call(`/api/v1/components/${componentId}`, { method: "PATCH", key, json: { status } });
  const uptimes = async () => {
    const { body } = await app.call("/api/v1/status/acme", { key });
    return body.components.map((each: { uptime_90d: number | null }) => each.uptime_90d);
  };
  const days = async () => {
    const { text } = await app.call("/status/acme");
    return [...text.matchAll(/<title>(\d[^<]*)</g)].map(([, title]) => title);
  };
  const gap = (startedAt: number, endedAt: number | null) =>
    app.ctx.db.write((tx) => {
      saveNoData(tx, { componentId, startedAt, endedAt });
      touchPage(app.ctx, tx, page.id);
    });

  // Known from noon on: ten hours, of which four were down.
  const start = app.clock.now();
  await set("major_outage");
  await app.clock.advance(4 * HOUR_MS);
  await set("operational");
  await app.clock.advance(6 * HOUR_MS);
  expect(await uptimes()).toEqual([0.6, 1]);
  expect((await days()).join()).not.toContain("no data");

  // Two of the hours with an outage and three of the good ones have no data.
  await gap(start + 2 * HOUR_MS, start + 7 * HOUR_MS);
  expect(await uptimes()).toEqual([0.6, 1]);
  await gap(start + HOUR_MS, start + 2 * HOUR_MS);
  expect(await uptimes()).toEqual([0.75, 1]);
  expect(await days()).toContain("10 Mar 2026: Major outage (1 h major outage, 6 h no data)");

  // One that goes on.
  await app.clock.advance(2 * HOUR_MS);
  await gap(app.clock.now(), null);
  await app.clock.advance(2 * DAY_MS);
  expect(await uptimes()).toEqual([Math.floor((5 / 6) * 1e6) / 1e6, 1]);
  expect(await days()).toContain("11 – 13 Mar 2026: No data");
});
