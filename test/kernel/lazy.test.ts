import { describe, expect, test } from "bun:test";
import { once } from "../../src/kernel/lazy";

describe("an initialisation that runs once", () => {
  test("concurrent callers share one initialisation, and later ones do not wait", async () => {
    let count = 0;
    const ask = once(async () => {
      await Promise.resolve();
      count += 1;
    });
    await Promise.all([ask(), ask(), ask()]);
    expect(count).toBe(1);
    expect(ask()).toBeUndefined();
    expect(count).toBe(1);
  });

  test("a failed initialisation rejects all waiting callers and is repeated", async () => {
    let isBroken = true;
    const ask = once(async () => {
      await Promise.resolve();
      if (isBroken) throw new Error("not now");
    });
    const waiting = [ask(), ask()].map((each) => each?.catch((error: Error) => error.message));
    expect(await Promise.all(waiting)).toEqual(["not now", "not now"]);
    isBroken = false;
    await ask();
    expect(ask()).toBeUndefined();
  });
});
