import { expect, test } from "bun:test";
import { partOf, readPlace } from "../../src/db/orders";

const START = { afterValue: null, afterId: null };

test("the place of the last shown entry is read back as its value and id, and there is none at the end", () => {
  for (const value of ["", 'a "b" . c', "ünï\n%20", "\ud83d\ude00", 0, -1, 1.5]) {
    const entries = [1, 2].map((number) => ({ id: `mon_${number}`, value }));
    const { shown, nextBefore } = partOf(entries, 1, ({ id }) => id);
    expect(shown).toHaveLength(1);
    expect(readPlace(nextBefore)).toEqual({ afterValue: value, afterId: "mon_1" });
    expect(partOf(entries, 2, ({ id }) => id).nextBefore).toBeUndefined();
  }
});

test("text that is no place is before the first entry", () => {
  const texts = [
    "",
    "mon_1",
    "mon_1.",
    ".5",
    "mon_1.{}",
    "mon_1.null",
    "mon_1.[1]",
    'm.1"',
    "m n.1",
  ];
  for (const text of [undefined, ...texts]) expect(readPlace(text)).toEqual(START);
});
