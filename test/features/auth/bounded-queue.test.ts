import { describe, expect, test } from "bun:test";
import { createBoundedQueue } from "../../../src/features/auth/passwords";
import { settle } from "../../support/clock";

function setUp(concurrency: number, waiting: number, waitingPerSource = waiting) {
  const queue = createBoundedQueue({
    concurrency,
    waiting,
    waitingPerSource,
    refuse: (reason) => new Error(reason),
  });
  const begun: string[] = [];
  /** Ranks that sources have later than at the arrival of their work. */
  const ranks: Record<string, number> = {};
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string, source = "", rank = 0) =>
    queue.run({ source, rank: () => ranks[source] ?? rank }, () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      });
    });
  return {
    work,
    queue,
    begun,
    ranks,
    end: (name: string, error?: Error) => ends.get(name)?.(error),
  };
}

describe("a bounded queue", () => {
  test("a bounded queue runs some tasks at once and the others in order of arrival", async () => {
    const { work, begun, end } = setUp(2, 10);
    const all = Promise.allSettled(["a", "b", "c", "d"].map((name) => work(name)));
    await settle();
    expect(begun).toEqual(["a", "b"]);
    end("b");
    await settle();
    expect(begun).toEqual(["a", "b", "c"]);
    end("a", new Error("broken"));
    await settle();
    expect(begun).toEqual(["a", "b", "c", "d"]);
    end("c");
    end("d");
    expect((await all).map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
  });

  test("a full bounded queue rejects a task at once, and accepts others when there is space", async () => {
    const { work, begun, end } = setUp(1, 1);
    const [running, waiting] = [work("running"), work("waiting")];
    await expect(work("refused", "b")).rejects.toThrow("full");
    await settle();
    end("running");
    expect(await running).toBe("running");
    const later = work("later");
    await settle();
    end("waiting");
    expect(await waiting).toBe("waiting");
    await settle();
    end("later");
    expect(await later).toBe("later");
    expect(begun).toEqual(["running", "waiting", "later"]);
  });

  test("a bounded queue limits the waiting tasks of one source and frees their slots", async () => {
    const { work, begun, end } = setUp(1, 10, 2);
    const first = work("first", "a");
    const waiting = [work("second", "a"), work("third", "a")];
    await expect(work("fourth", "a")).rejects.toThrow("busy");
    // Somebody else finds room, behind those who were there before.
    const other = work("other", "b");
    for (const name of ["first", "second", "third", "other"]) {
      await settle();
      expect(begun.at(-1)).toBe(name);
      end(name);
    }
    expect(await Promise.all([first, ...waiting, other])).toEqual([
      "first",
      "second",
      "third",
      "other",
    ]);
    const again = work("again", "a");
    await settle();
    end("again");
    expect(await again).toBe("again");
  });

  test("a bounded queue runs tasks by rank and then in order of arrival", async () => {
    const { work, begun, end } = setUp(1, 10);
    const all = [work("running")];
    for (const [name, rank] of [
      ["c", 2],
      ["a", 1],
      ["d", 2],
      ["b", 1],
    ] as const) {
      all.push(work(name, name, rank));
    }
    for (const name of ["running", "a", "b", "c", "d"]) {
      await settle();
      expect(begun.at(-1)).toBe(name);
      end(name);
    }
    await Promise.all(all);
  });

  test("a full bounded queue replaces its last task with one of a lower rank", async () => {
    const { work, begun, end } = setUp(1, 2);
    const running = work("running");
    const [kept, displaced] = [work("kept", "a", 1), work("displaced", "b", 2)];
    const first = work("first", "c", 0);
    await expect(displaced).rejects.toThrow("full");
    await expect(work("too late", "d", 1)).rejects.toThrow("full");
    for (const name of ["running", "first", "kept"]) {
      await settle();
      end(name);
    }
    expect(await Promise.all([running, first, kept])).toEqual(["running", "first", "kept"]);
    expect(begun).toEqual(["running", "first", "kept"]);
  });

  test("a place is refused in advance only to work that would be refused at once", async () => {
    const { work, queue, begun, end } = setUp(1, 2);
    const requirePlace = (rank: number) => queue.requirePlace({ source: "z", rank: () => rank });
    const all = [work("running"), work("a", "a", 1)];
    requirePlace(9);
    all.push(work("b", "b", 3));
    expect(() => requirePlace(3)).toThrow("full");
    requirePlace(2);
    for (const name of ["running", "a", "b"]) {
      await settle();
      end(name);
    }
    await Promise.all(all);
    expect(begun).toEqual(["running", "a", "b"]);
  });

  test("a waiter's rank is read when a place becomes free", async () => {
    const { work, begun, ranks, end } = setUp(1, 10);
    const all = [work("running"), work("a", "a", 1), work("b", "b", 2)];
    ranks["a"] = 3;
    for (const name of ["running", "b", "a"]) {
      await settle();
      expect(begun.at(-1)).toBe(name);
      end(name);
    }
    await Promise.all(all);
  });
});
