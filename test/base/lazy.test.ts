import { describe, expect, test } from "bun:test";
import { once } from "../../src/base/lazy";

describe("an initialisation that runs once", () => {
  test("concurrent callers share one initialisation, and later ones do not wait", async () => {
    let count = 0;
    const load = once(async () => {
      await Promise.resolve();
      count += 1;
    });
    await Promise.all([load(), load(), load()]);
    expect(count).toBe(1);
    expect(load()).toBeUndefined();
    expect(count).toBe(1);
  });

  test("a failed initialisation rejects all waiting callers and is repeated", async () => {
    let isBroken = true;
    const load = once(async () => {
      await Promise.resolve();
      if (isBroken) throw new Error("not now");
    });
    const waiting = [load(), load()].map((each) => each?.catch((error: Error) => error.message));
    expect(await Promise.all(waiting)).toEqual(["not now", "not now"]);
    isBroken = false;
    await load();
    expect(load()).toBeUndefined();
  });
});
