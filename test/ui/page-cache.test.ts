import { describe, expect, test } from "bun:test";
import { createPageCache } from "../../src/ui/documents";

function createCountingCache() {
  const rendered: string[] = [];
  const pages = createPageCache(({ name }: { name: string }) => {
    rendered.push(name);
    return { html: `<p>${name}</p>`, policy: "default-src 'none'" };
  });
  return { rendered, pages };
}

describe("a page cache", () => {
  test("a page cache renders a page once for equal properties and again for others", () => {
    const { rendered, pages } = createCountingCache();
    for (let count = 0; count < 500; count++) pages({ name: "one" });
    expect(pages({ name: "two" }).html).toBe("<p>two</p>");
    expect(pages({ name: "one" }).html).toBe("<p>one</p>");
    expect(rendered).toEqual(["one", "two"]);
  });

  test("a page cache keeps a hundred pages and drops the least recently used", () => {
    const { rendered, pages } = createCountingCache();
    for (let count = 0; count <= 100; count++) pages({ name: String(count) });
    pages({ name: "1" });
    expect(rendered).toHaveLength(101);
    pages({ name: "0" });
    expect(rendered).toHaveLength(102);
  });
});
