import { describe, expect, test } from "bun:test";
import { type Due, Lane } from "../../../../src/features/webhooks/deliver/lane";

const first = (id: string, subjectId = id): Due => ({ id, subjectId, isFirst: true });
const retry = (id: string, subjectId = id): Due => ({ id, subjectId, isFirst: false });

function laneOf(...due: Due[]): Lane {
  const lane = new Lane("whk_1");
  lane.claim(due);
  return lane;
}

describe("a lane", () => {
  test("begins in the order in which things were queued, whatever order they are due in", () => {
    const lane = laneOf(first("dlv_2"), retry("dlv_3"), first("dlv_1"));
    expect([lane.begin()?.id, lane.begin()?.id, lane.begin()?.id]).toEqual([
      "dlv_1",
      "dlv_2",
      "dlv_3",
    ]);
    expect(lane.begin()).toBeUndefined();
  });

  test("lets one first try of a subject run at a time, and retries beside it", () => {
    const lane = laneOf(first("dlv_1", "inc_1"), first("dlv_2", "inc_1"), retry("dlv_3", "inc_1"));
    const begun = lane.begin();
    expect(begun?.id).toBe("dlv_1");
    expect(lane.begin()?.id).toBe("dlv_3");
    expect(lane.hasNext()).toBe(false);
    lane.end(begun as Due);
    expect(lane.begin()?.id).toBe("dlv_2");
  });

  test("takes nothing in twice, until what came of it is recorded", () => {
    const due = first("dlv_1");
    const lane = laneOf(due);
    lane.claim([due]);
    expect(lane.waiting).toBe(1);
    lane.begin();
    lane.end(due);
    lane.claim([due]);
    expect(lane.waiting).toBe(0);
    lane.release(due);
    lane.claim([due]);
    expect(lane.waiting).toBe(1);
  });

  test("begins a held delivery again before later ones of its subject", () => {
    const lane = laneOf(first("dlv_1", "inc_1"), first("dlv_2", "inc_1"), first("dlv_3", "inc_2"));
    const held = lane.begin() as Due;
    lane.hold(held);
    expect(lane.underWay).toBe(0);
    expect(lane.begin()?.id).toBe("dlv_3");
    expect(lane.hasNext()).toBe(false);
    lane.claim([held]);
    expect(lane.waiting).toBe(1);
    lane.release(held);
    expect(lane.begin()?.id).toBe("dlv_1");
    expect(lane.hasNext()).toBe(false);
    lane.end(held);
    expect(lane.begin()?.id).toBe("dlv_2");
  });

  test("forgets what waits, and not what is under way", () => {
    const lane = laneOf(first("dlv_1"), first("dlv_2"));
    const begun = lane.begin() as Due;
    lane.clear();
    expect([lane.waiting, lane.underWay, lane.claimed]).toEqual([0, 1, 1]);
    lane.end(begun);
    lane.release(begun);
    expect([lane.underWay, lane.claimed]).toEqual([0, 0]);
  });
});
