import { describe, expect, test } from "bun:test";
import { EndpointQueue } from "../../../../src/features/webhooks/deliver/delivery-queue";

type Due = Parameters<EndpointQueue["end"]>[0];

const first = (id: string, subjectId = id): Due => ({
  id,
  subjectId,
  isFirst: true,
  isOrdered: false,
});
const retry = (id: string, subjectId = id): Due => ({
  id,
  subjectId,
  isFirst: false,
  isOrdered: false,
});

function laneOf(...due: Due[]): EndpointQueue {
  const queue = new EndpointQueue("whk_1");
  queue.claim(due);
  return queue;
}

describe("the queue of an endpoint", () => {
  test("an endpoint queue starts deliveries in the order in which they were queued", () => {
    const queue = laneOf(first("dlv_2"), retry("dlv_3"), first("dlv_1"));
    expect([queue.begin()?.id, queue.begin()?.id, queue.begin()?.id]).toEqual([
      "dlv_1",
      "dlv_2",
      "dlv_3",
    ]);
    expect(queue.begin()).toBeUndefined();
  });

  test("an endpoint queue runs one first attempt per subject at a time, and retries in parallel", () => {
    const queue = laneOf(first("dlv_1", "inc_1"), first("dlv_2", "inc_1"), retry("dlv_3", "inc_1"));
    const begun = queue.begin();
    expect(begun?.id).toBe("dlv_1");
    expect(queue.begin()?.id).toBe("dlv_3");
    expect(queue.hasNext()).toBe(false);
    queue.end(begun as Due);
    expect(queue.begin()?.id).toBe("dlv_2");
  });

  test("an endpoint queue accepts a delivery again only after its result is recorded", () => {
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

  test("an endpoint queue starts a held delivery before later ones of its subject", () => {
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

  test("clearing an endpoint queue removes waiting deliveries and keeps running ones", () => {
    const queue = laneOf(first("dlv_1"), first("dlv_2"));
    const begun = queue.begin() as Due;
    queue.clear();
    expect([queue.waiting, queue.underWay, queue.claimed]).toEqual([0, 1, 1]);
    queue.end(begun);
    queue.release(begun);
    expect([queue.underWay, queue.claimed]).toEqual([0, 0]);
  });

  test("attempts of messages about monitors run in sequence until their results are recorded, retries too", () => {
    const ordered = (id: string, isFirst: boolean): Due => ({
      id,
      subjectId: id,
      isFirst,
      isOrdered: true,
    });
    const queue = laneOf(ordered("dlv_1", true), ordered("dlv_2", false), first("dlv_3"));
    const [due, other] = [queue.begin(), queue.begin()];
    expect([due?.id, other?.id]).toEqual(["dlv_1", "dlv_3"]);
    if (due) queue.end(due);
    expect(queue.hasNext()).toBe(false);
    if (due) queue.release(due);
    expect(queue.begin()?.id).toBe("dlv_2");
  });

  test("later deliveries of a subject wait with its first one for a message about monitors", () => {
    const ordered = (id: string, subjectId: string): Due => ({
      ...first(id, subjectId),
      isOrdered: true,
    });
    const queue = laneOf(
      ordered("dlv_1", "mon_1"),
      ordered("dlv_2", "inc_1"),
      first("dlv_3", "inc_1"),
      first("dlv_4", "inc_2"),
    );
    const [monitor, other] = [queue.begin(), queue.begin()];
    expect([monitor?.id, other?.id, queue.hasNext()]).toEqual(["dlv_1", "dlv_4", false]);
    if (monitor) {
      queue.end(monitor);
      queue.release(monitor);
    }
    expect([queue.begin()?.id, queue.hasNext()]).toEqual(["dlv_2", false]);
  });

  test("a held message about monitors that gives up its place lets later ones start, and stays held", () => {
    const held: Due = { ...first("dlv_1", "inc_1"), isOrdered: true };
    const queue = laneOf(held, { ...first("dlv_2"), isOrdered: true }, first("dlv_3", "inc_1"));
    queue.begin();
    queue.hold(held);
    expect(queue.hasNext()).toBe(false);
    queue.giveUpPlace(held);
    const [second, third] = [queue.begin(), queue.begin()];
    expect([second?.id, third?.id]).toEqual(["dlv_2", "dlv_3"]);
    queue.claim([first("dlv_4", "inc_1")]);
    queue.release(held);
    // The later one of its subject is still under way.
    expect([queue.claimed, queue.hasNext()]).toEqual([4, false]);
    if (second) queue.release(second);
    expect(queue.begin()?.id).toBe("dlv_1");
  });
});
