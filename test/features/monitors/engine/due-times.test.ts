import { expect, test } from "bun:test";
import fc from "fast-check";
import { openScheduler } from "../../../support/scheduler";

test("the scheduler returns the monitor that is due first after any sequence of changes, removals and checks", () => {
  const step = fc.record({
    name: fc.nat({ max: 20 }),
    delayMs: fc.nat({ max: 50 }),
    does: fc.constantFrom("schedule", "remove", "next"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { clock, scheduler, monitor } = openScheduler();
      const now = clock.monotonic();
      const monitors = Array.from({ length: 21 }, (_, name) => monitor(String(name), 1_000));
      const inside = new Map<string, number>();
      for (const { name, delayMs, does } of steps) {
        const scheduled = monitors[name];
        if (!scheduled) throw new Error("there is one of each name");
        if (does === "schedule") {
          scheduler.after(scheduled, delayMs);
          inside.set(scheduled.id, now + delayMs);
        } else if (does === "remove") {
          scheduler.remove(scheduled);
          inside.delete(scheduled.id);
        } else {
          const next = scheduler.due(Number.POSITIVE_INFINITY);
          expect(next?.dueAt).toBe(inside.size === 0 ? undefined : Math.min(...inside.values()));
          if (!next) continue;
          scheduler.begin(next);
          scheduler.free(next, 0);
          scheduler.end(next);
          inside.delete(next.id);
        }
        expect(scheduler.nextDueAt).toBe(Math.min(...inside.values()));
        expect(monitors.filter(({ heapIndex }) => heapIndex >= 0)).toHaveLength(inside.size);
      }
    }),
  );
});
