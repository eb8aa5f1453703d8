import { expect, test } from "bun:test";
import fc from "fast-check";
import { headlineOf } from "../../../src/features/status/rules";
import { COMPONENT_STATUSES, type ComponentStatus, INDICATORS } from "../../../src/base/status";

const OK: ComponentStatus = "operational";

test.each<[ComponentStatus[], string, string]>([
  [[], "none", "All Systems Operational"],
  [[OK, OK], "none", "All Systems Operational"],
  [["major_outage", "major_outage"], "critical", "Major System Outage"],
  [["major_outage", OK], "major", "Partial System Outage"],
  [["partial_outage", "partial_outage"], "major", "Partial System Outage"],
  [["partial_outage", OK], "minor", "Minor Service Outage"],
  [["degraded_performance", "degraded_performance"], "minor", "Degraded System Service"],
  [["degraded_performance", OK], "minor", "Partially Degraded Service"],
  [["under_maintenance", OK], "maintenance", "Service Under Maintenance"],
  [["under_maintenance", "degraded_performance"], "minor", "Partially Degraded Service"],
])("components with the statuses %j have the headline %s", (statuses, indicator, description) => {
  expect(headlineOf(statuses)).toEqual({ indicator, description } as ReturnType<typeof headlineOf>);
});

test("a component that gets worse never makes the headline better", () => {
  const status = fc.nat(COMPONENT_STATUSES.length - 1);
  fc.assert(
    fc.property(fc.array(status, { minLength: 1 }), fc.nat(), (ranks, at) => {
      const index = at % ranks.length;
      const worse = ranks.with(index, Math.min((ranks[index] ?? 0) + 1, 4));
      const severity = (of: number[]) =>
        INDICATORS.indexOf(headlineOf(of.map((rank) => COMPONENT_STATUSES[rank] ?? OK)).indicator);
      expect(severity(worse)).toBeGreaterThanOrEqual(severity(ranks));
    }),
  );
});
