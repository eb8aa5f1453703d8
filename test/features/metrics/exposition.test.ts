import { expect, test } from "bun:test";
import { readExposition } from "../../support/exposition";

const HEAD = "# HELP a_total Text.\n# TYPE a_total counter\n";

test("readExposition accepts the valid format only", () => {
  const read = readExposition(`${HEAD}a_total{x="1",y="a\\"b\\\\c\\nd"} 2\na_total 0.5\n`);
  expect(read.get("a_total")?.samples).toEqual([
    { labels: { x: "1", y: 'a"b\\c\nd' }, value: 2 },
    { labels: {}, value: 0.5 },
  ]);
  for (const wrong of [
    `${HEAD}a_total 1`,
    `${HEAD}a_total{x="1"} 1\na_total{x="1"} 2\n`,
    `${HEAD}a_total -1\n`,
    `${HEAD}a_total one\n`,
    `${HEAD}a_total{x=1} 1\n`,
    `${HEAD}a_total{x="a"b"} 1\n`,
    `${HEAD}a_total{1x="a"} 1\n`,
    `${HEAD}b_total 1\n`,
    `${HEAD}${HEAD}`,
    "a_total 1\n",
    "# TYPE a_total counter\na_total 1\n",
    "# HELP a Text.\n# TYPE a counter\na 1\n",
    "# HELP a Text.\n# TYPE a number\na 1\n",
    `${HEAD}# HELP b Text.\n# TYPE b gauge\nb 1\na_total 1\n`,
  ]) {
    expect(() => readExposition(wrong), wrong).toThrow();
  }
});
