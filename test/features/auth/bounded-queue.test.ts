import { describe, expect, test } from "bun:test";
import { createBoundedQueue } from "../../../src/features/auth/bounded-queue";
import { settle } from "../../support/clock";

function setUp(atOnce: number, waiting: number, waitingOfOne = waiting) {
  const inTurn = createBoundedQueue({
    atOnce,
    waiting,
    waitingOfOne,
    refuse: () => new Error("full"),
  });
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string, source = "") =>
    inTurn(source, () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      });
    });
  return { work, begun, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

describe("a bounded queue", () => {
  test("runs some at once and the others in the order in which they came", async () => {
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

  test("refuses at once what finds no room, never begins it, and takes others when there is room", async () => {
    const { work, begun, end } = setUp(1, 1);
    const [running, waiting] = [work("running"), work("waiting")];
    await expect(work("refused")).rejects.toThrow("full");
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

  test("lets one source take some of the places only, and gives them back", async () => {
    const { work, begun, end } = setUp(1, 10, 2);
    const first = work("first", "a");
    const waiting = [work("second", "a"), work("third", "a")];
    await expect(work("fourth", "a")).rejects.toThrow("full");
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
});
