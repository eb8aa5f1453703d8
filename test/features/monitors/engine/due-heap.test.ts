import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Due, DueHeap } from "../../../../src/features/monitors/engine/scheduler";

interface Item extends Due {
  name: number;
}

test("a due heap returns the earliest item after any sequence of insertions, moves and removals", () => {
  const step = fc.record({
    name: fc.nat({ max: 20 }),
    dueAt: fc.nat({ max: 50 }),
    does: fc.constantFrom("schedule", "remove", "next"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new DueHeap<Item>();
      const items = Array.from({ length: 21 }, (_, name): Item => ({
        name,
        dueAt: 0,
        heapIndex: -1,
      }));
      const inside = new Map<number, number>();
      for (const { name, dueAt, does } of steps) {
        const item = items[name];
        if (!item) throw new Error("there is one of each name");
        if (does === "schedule") {
          heap.schedule(item, dueAt);
          inside.set(name, dueAt);
        } else if (does === "remove") {
          heap.remove(item);
          inside.delete(name);
        } else {
          const next = heap.peek();
          if (next) heap.remove(next);
          if (next) expect(next.dueAt).toBe(Math.min(...inside.values()));
          if (next) inside.delete(next.name);
        }
        expect(heap.size).toBe(inside.size);
        expect(heap.peek()?.dueAt).toBe(
          inside.size === 0 ? undefined : Math.min(...inside.values()),
        );
      }
    }),
  );
});
