import { expect, test } from "bun:test";
import { describeLongRun } from "../support/fleet/describe";
import { percentile, startFleet } from "../support/fleet/fleet";
import { durationMs, expectWithin, report } from "../support/long";

const PER_SECOND = 50;
const POLL_MS = 20;

await describeLongRun("the lag of a replica", { go: ["versitygw", "litestream"] }, () => {
  test(
    "writes at 50 a second are at a replica within five seconds",
    async () => {
      await using fleet = await startFleet({ replicas: 1 });
      const { primary, key } = fleet;
      const [replica] = fleet.replicas;
      const body = { page: "acme", name: "write 0", status: "investigating", body: "x" };
      const posted = await primary.call("/api/v1/incidents", { method: "POST", key, body });
      const { id } = (await posted.json()) as { id: string };
      const sentAt = new Map<number, number>();
      const lags: number[] = [];
      let count = 0;
      let seen = 0;
      const failures: number[] = [];
      const write = async (number: number) => {
        const path = `/api/v1/incidents/${id}`;
        const change = { name: `write ${number}` };
        sentAt.set(number, performance.now());
        const answer = await primary.call(path, { method: "PATCH", key, body: change });
        if (answer.status !== 200) failures.push(answer.status);
      };
      const writing = setInterval(() => void write(++count), 1_000 / PER_SECOND);
      const end = performance.now() + durationMs(8_000, 120_000);
      while (performance.now() < end) {
        await Bun.sleep(POLL_MS);
        const answer = await replica?.call("/api/v1/status/acme", { key });
        const [, number = "0"] = /"write (\d+)"/.exec((await answer?.text()) ?? "") ?? [];
        const now = performance.now();
        // Each write that came between two looks has been visible since the second one.
        for (; seen < Number(number); seen++) lags.push(now - (sentAt.get(seen + 1) ?? NaN));
      }
      clearInterval(writing);
      const figures = { p50Ms: percentile(lags, 0.5), p99Ms: percentile(lags, 0.99) };
      report("lag of a replica at 50 writes/s", { writes: lags.length, ...figures });
      expect(failures).toEqual([]);
      expect(lags.length).toBeGreaterThan(count / 2);
      expectWithin(figures.p99Ms, 5_000);
    },
    durationMs(600_000, 300_000),
  );
});
