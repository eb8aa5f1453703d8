import { expect, test } from "bun:test";
import fc from "fast-check";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { ofMonitors } from "../../../../src/features/monitors/checks-store";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { alertmanagerBody, openAlertSite } from "../../../support/alert-reports";

const alert = fc.record({
  labels: fc.record({
    alertname: fc.constantFrom("A", "B", "C", "D"),
    service: fc.constantFrom("checkout", "search"),
    severity: fc.constantFrom("critical", "warning"),
  }),
  status: fc.constantFrom("firing" as const, "resolved" as const),
});

const step = fc.record({
  sender: fc.constantFrom(0, 1),
  alerts: fc.array(alert, { maxLength: 4 }),
  waitMs: fc.constantFrom(0, SECOND_MS, 2 * MINUTE_MS),
  isRestarted: fc.boolean(),
});

test("after any reports, repeated or not, and restarts, the state is that of the last report of each alert", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      await using site = await openAlertSite();
      const { id } = await site.monitor({
        match: ['service="checkout"', 'severity="critical"'],
        degraded: ['service="checkout"'],
      });
      const { num: monitorNum } = getMonitorRecord(site.app.ctx.db, id).row;
      const checks = () =>
        ofMonitors.listChecksBefore(site.app.ctx.db, { monitorNum, before: Infinity, limit: 1_000 })
          .length;
      const keys = [site.sender, await site.app.keyWith("write:components")];
      const open = new Map<string, "down" | "degraded">();
      for (const { sender, alerts, waitMs, isRestarted } of steps) {
        const key = keys[sender];
        await site.report(alertmanagerBody(...alerts), { key });
        for (const { labels, status } of alerts) {
          const name = `${sender} ${JSON.stringify(Object.entries(labels).sort())}`;
          if (status === "resolved" || labels.service !== "checkout") open.delete(name);
          else open.set(name, labels.severity === "critical" ? "down" : "degraded");
        }
        const levels = new Set(open.values());
        const expected = levels.has("down") ? "down" : levels.has("degraded") ? "degraded" : "up";
        expect(site.state(id)).toBe(expected);
        await site.clock.advance(waitMs);
        const [before, events] = [checks(), site.app.events().length];
        await site.report(alertmanagerBody(...alerts), { key });
        expect(site.state(id)).toBe(expected);
        expect([checks(), site.app.events().length]).toEqual([before, events]);
        if (isRestarted) await site.restart(waitMs);
        expect(site.state(id)).toBe(expected);
      }
    }),
    { numRuns: 25 },
  );
});
