import { expect, test } from "bun:test";
import { type CauseInterval, timeByStatus } from "../../../src/features/components/rules";

test("timeByStatus folds a hundred thousand causes of one component", () => {
  const causes: CauseInterval[] = Array.from({ length: 100_000 }, (_, i) => ({
    status: "major_outage",
    startedAt: i * 10,
    endedAt: i * 10 + 4,
  }));
  const time = timeByStatus(causes, { from: 0, to: 1_000_000 });
  expect(time.major_outage).toBe(400_000);
  expect(time.operational).toBe(600_000);
});
