import { expect, test } from "bun:test";
import { ALARM_KINDS } from "../../../src/features/alarms/kinds";
import { createAlarms } from "../../../src/features/alarms/alarms";
import { alarmFamilies } from "../../../src/features/metrics/families";
import { createTestApp } from "../../support/app";
import { scrape } from "../../support/scrape";

test("the metrics have 1 for each alarm whose condition holds, and 0 for the others", async () => {
  await using app = await createTestApp();
  const alarms = createAlarms(app.ctx);
  app.app.metrics.add(...alarmFamilies(alarms));
  const key = await app.keyWith("read:analytics");
  const values = async () => {
    const scraped = await scrape(app, key);
    return ALARM_KINDS.filter((kind) => scraped.value("allclear_fleet_alarm", { kind }) === 1);
  };
  expect((await scrape(app, key)).value("allclear_fleet_alarm", { kind: "orphans" })).toBe(0);
  alarms.raise("orphans", "3 events.");
  alarms.raise("replica_lag", "b is 11 s behind.");
  expect(await values()).toEqual(["replica_lag", "orphans"]);
  alarms.clear("replica_lag");
  expect(await values()).toEqual(["orphans"]);
  await alarms.stop();
});
