import { describe, expect, test } from "bun:test";
import { type Due, EndpointQueue } from "../../../../src/features/webhooks/deliver/endpoint-queue";

const first = (id: string, subjectId = id): Due => ({ id, subjectId, isFirst: true });
const retry = (id: string, subjectId = id): Due => ({ id, subjectId, isFirst: false });

function laneOf(...due: Due[]): EndpointQueue {
  const queue = new EndpointQueue("whk_1");
  queue.claim(due);
  return queue;
}

describe("a lane", () => {
  test("begins in the order in which things were queued, whatever order they are due in", () => {
    const queue = laneOf(first("dlv_2"), retry("dlv_3"), first("dlv_1"));
    expect([queue.begin()?.id, queue.begin()?.id, queue.begin()?.id]).toEqual([
      "dlv_1",
      "dlv_2",
      "dlv_3",
    ]);
    expect(queue.begin()).toBeUndefined();
  });

  test("lets one first try of a subject run at a time, and retries beside it", () => {
    const queue = laneOf(first("dlv_1", "inc_1"), first("dlv_2", "inc_1"), retry("dlv_3", "inc_1"));
    const begun = queue.begin();
    expect(begun?.id).toBe("dlv_1");
    expect(queue.begin()?.id).toBe("dlv_3");
    expect(queue.hasNext()).toBe(false);
    queue.end(begun as Due);
    expect(queue.begin()?.id).toBe("dlv_2");
  });

  test("takes nothing in twice, until what came of it is recorded", () => {
    const due = first("dlv_1");
    const queue = laneOf(due);
    queue.claim([due]);
    expect(queue.waiting).toBe(1);
    queue.begin();
    queue.end(due);
    queue.claim([due]);
    expect(queue.waiting).toBe(0);
    queue.release(due);
    queue.claim([due]);
    expect(queue.waiting).toBe(1);
  });

  test("begins a held delivery again before later ones of its subject", () => {
    const queue = laneOf(first("dlv_1", "inc_1"), first("dlv_2", "inc_1"), first("dlv_3", "inc_2"));
    const held = queue.begin() as Due;
    queue.hold(held);
    expect(queue.underWay).toBe(0);
    expect(queue.begin()?.id).toBe("dlv_3");
    expect(queue.hasNext()).toBe(false);
    queue.claim([held]);
    expect(queue.waiting).toBe(1);
    queue.release(held);
    expect(queue.begin()?.id).toBe("dlv_1");
    expect(queue.hasNext()).toBe(false);
    queue.end(held);
    expect(queue.begin()?.id).toBe("dlv_2");
  });

  test("forgets what waits, and not what is under way", () => {
    const queue = laneOf(first("dlv_1"), first("dlv_2"));
    const begun = queue.begin() as Due;
    queue.clear();
    expect([queue.waiting, queue.underWay, queue.claimed]).toEqual([0, 1, 1]);
    queue.end(begun);
    queue.release(begun);
    expect([queue.underWay, queue.claimed]).toEqual([0, 0]);
  });
});
