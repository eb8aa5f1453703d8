import { expect, test } from "bun:test";
import { createMarkdownCache } from "../../src/public/text";

/** Texts in a row, each rendered into as many characters. */
function createCounted(length: number) {
  let rendered = 0;
  const render = createMarkdownCache((source, topHeading) => {
    rendered += 1;
    return `${topHeading} ${source}`.padEnd(length);
  });
  return { render, rendered: () => rendered };
}

test("a text is rendered once per level of headings", () => {
  const { render, rendered } = createCounted(10);
  expect(render("# a", 3)).toBe(render("# a", 3));
  expect(rendered()).toBe(1);
  expect(render("# a", 4)).not.toBe(render("# a", 3));
  expect(rendered()).toBe(2);
});

test("the cache of rendered texts is limited and drops the least recently used", () => {
  const { render, rendered } = createCounted(100_000);
  for (let n = 0; n < 30; n++) render(`text ${n}`, 3);
  expect(rendered()).toBe(30);
  render("text 29", 3);
  expect(rendered()).toBe(30);
  render("text 0", 3);
  expect(rendered()).toBe(31);
});

test("a text that is larger than the cache is rendered each time", () => {
  const { render, rendered } = createCounted(3_000_000);
  render("a", 3);
  expect(render("a", 3)).toHaveLength(3_000_000);
  expect(rendered()).toBe(2);
});
