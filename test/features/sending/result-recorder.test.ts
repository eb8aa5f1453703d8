import { expect, test } from "bun:test";
import type { Tx } from "../../../src/db/statements";
import { ResultRecorder } from "../../../src/features/sending/results";
import { createTestApp } from "../../support/app";

test("of results that are written together, one that cannot be written does not undo the others", async () => {
  await using app = await createTestApp();
  const written: number[] = [];
  const write = (_tx: Tx, result: number): string => {
    if (result === 2) throw new Error("it cannot be written");
    written.push(result);
    return `recorded ${result}`;
  };
  let together = 0;
  const recorder = new ResultRecorder<number, string>(app.ctx, {
    write,
    writeAll(tx, results) {
      together += 1;
      return results.map((result) => write(tx, result));
    },
    describe: (result) => ({ result }),
    waiting: "results wait",
    lost: "a result is lost",
  });
  const all = [1, 3].map((result) => recorder.add(result));
  await recorder.flush();
  expect(await Promise.all(all)).toEqual(["recorded 1", "recorded 3"]);
  expect([together, written]).toEqual([1, [1, 3]]);

  written.length = 0;
  const [first, , third] = [1, 2, 3].map((result) => recorder.add(result));
  await recorder.flush();
  expect(await Promise.all([first, third])).toEqual(["recorded 1", "recorded 3"]);
  // The first attempt was rolled back.
  expect(written).toEqual([1, 1, 3]);
  expect([recorder.unwritten, recorder.isStuck]).toEqual([0, false]);
  expect(app.logged.filter(({ msg }) => msg === "a result is lost")).toMatchObject([{ result: 2 }]);
});
