import { describe, expect, test } from "bun:test";
import { plainText, renderMarkdown } from "../../src/base/markdown";
import { readHtml } from "../support/html";

const REL = "nofollow noopener ugc";

describe("Markdown of users", () => {
  test("Markdown is rendered with paragraphs, lists, code and line breaks", () => {
    const html = renderMarkdown("One **of** five.\nNext.\n\n- a\n\n`<b>`");
    const page = readHtml(html);
    expect(page.texts("strong")).toEqual(["of"]);
    expect(page.texts("li")).toEqual(["a"]);
    expect(page.texts("code")).toEqual(["<b>"]);
    expect(html).toContain("<br>");
  });

  test("hostile Markdown is rendered in limited time and length", () => {
    // Each took a tenth of a second or became seventy times its length.
    const links = `http://a.bc/${"[]".repeat(4_990)}`;
    const table = `${"a|".repeat(1_000)}\n${"-|".repeat(1_000)}\n${"x\n".repeat(2_900)}`;
    const before = process.cpuUsage();
    for (const text of Array.from({ length: 20 }, () => [links, table]).flat()) {
      expect(renderMarkdown(text).length).toBeLessThan(10 * text.length);
    }
    // It was several seconds of processor time, which other processes do not lengthen.
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_500);
  });

  test("Markdown that is too expensive to render is shown as it was written", () => {
    const links = (count: number) => "[a](https://a.example) ".repeat(count).trim();
    expect(readHtml(renderMarkdown(links(500))).attributes("a", "href")).toHaveLength(500);
    const html = renderMarkdown(`<b>\n\nTwo\nlines ${links(2_000)}`);
    expect(html).toStartWith(
      '<p dir="auto">&lt;b&gt;</p>\n<p dir="auto">Two<br>\nlines [a](https://a.example) [a]',
    );
    expect(readHtml(html).attributes("a", "href")).toEqual([]);
  });

  test("Markdown of 50,000 characters of usual text is rendered", () => {
    const section = `## Then\n\n- **One** of \`five\`\n- See https://a.example/b\n\n\`\`\`\n${'{"at":"12:00:01.123","level":"error"} '.repeat(20)}\n\`\`\`\n\n${"It went on like this. ".repeat(40)}\n\n`;
    const source = section.repeat(Math.floor(50_000 / section.length));
    expect(readHtml(renderMarkdown(source)).texts("strong").length).toBeGreaterThan(20);
  });

  test("HTML in Markdown is escaped", () => {
    const html = renderMarkdown('<script>alert(1)</script>\n\n<img src=x onerror="alert(1)">');
    expect(html).not.toMatch(/<(?:script|img)/);
    expect(html).toContain("&lt;script&gt;");
  });

  test("Markdown links lead to http, https and mailto only and have rel attributes", () => {
    const html = renderMarkdown(
      "[a](https://a.example/x?y=1&z) [b](http://b.example) [c](mailto:c@d.example) https://e.example",
    );
    expect(readHtml(html).attributes("a", "href")).toEqual([
      "https://a.example/x?y=1&z",
      "http://b.example",
      "mailto:c@d.example",
      "https://e.example",
    ]);
    expect(readHtml(html).attributes("a", "rel")).toEqual([REL, REL, REL, REL]);
  });

  test.each([
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](data:text/html,hi)",
    "[x](vbscript:x)",
    "[x](file:///etc/passwd)",
    "[x](//elsewhere.example)",
    "[x](/admin/sign-out)",
    "[x](https://bank.example@elsewhere.example.)",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml,<svg/>)",
    "[x]: javascript:alert(1)\n\n[x]",
  ])("an unsafe Markdown link is not rendered: %s", (source) => {
    const links = readHtml(renderMarkdown(source)).attributes("a", "href");
    expect(links.filter((href) => href !== "https://bank.example")).toEqual([]);
  });

  test("a Markdown image becomes a link, never nested in another", () => {
    const html = renderMarkdown(
      "![A graph](https://a.example/g.png) [![B](https://b.example/b.png)](https://c.example) ![](https://d.example/d.png)",
    );
    expect(html).not.toContain("<img");
    expect(readHtml(html).texts("a")).toEqual(["A graph", "B", "https://d.example/d.png"]);
    expect(readHtml(html).attributes("a", "href")).toEqual([
      "https://a.example/g.png",
      "https://c.example",
      "https://d.example/d.png",
    ]);
  });

  test("Markdown headings start at the level of the place and skip no level", () => {
    const levels = (source: string, topHeading: number) =>
      [...renderMarkdown(source, { topHeading }).matchAll(/<(h\d) /g)].map((match) => match[1]);
    expect(levels("# a\n## b\n# c", 3)).toEqual(["h3", "h4", "h3"]);
    expect(levels("### a\n###### b\n# c", 4)).toEqual(["h4", "h5", "h4"]);
    expect(levels("# a\n## b\n### c\n#### d\n##### e", 4)).toEqual(["h4", "h5", "h6", "h6", "h6"]);
  });

  test("Markdown is rendered without bidirectional overrides", () => {
    expect(renderMarkdown("pay \u202eelpmaxe\u202c now \u2067x\u2069")).toBe(
      '<p dir="auto">pay elpmaxe now x</p>\n',
    );
  });

  test("paragraphs, headings and list items have their own direction, and code runs from left to right", () => {
    const source = "# שלום\n\nHello\n\n> مرحبا\n\n- שלום\n- Hello\n\n```\na = 1\n```\n\n    b = 2";
    const page = readHtml(renderMarkdown(source));
    expect(page.attributes("h3, p, li", "dir")).toEqual(Array(5).fill("auto"));
    expect(page.attributes("pre", "dir")).toEqual(["ltr", "ltr"]);
    // A list or a quotation of several languages has no direction of its own.
    expect(page.attributes("ul, blockquote", "dir")).toEqual([]);
  });

  test("the first paragraph of a list item leaves its direction to the item, whose marker follows", () => {
    expect(renderMarkdown("- שלום\n\n  Hello\n\n- b")).toBe(
      '<ul>\n<li dir="auto">\n<p>שלום</p>\n<p dir="auto">Hello</p>\n</li>\n<li dir="auto">\n<p>b</p>\n</li>\n</ul>\n',
    );
  });

  test("deeply nested Markdown of 10,000 characters is rendered", () => {
    const nested = ["[", "> ", "![", "*a_ ", "- ", "|a", "http://", "`"];
    for (const piece of nested) {
      const source = piece.repeat(10_000 / piece.length);
      expect(renderMarkdown(source).length).toBeGreaterThan(0);
    }
  });
});

describe("Markdown as plain words", () => {
  test("plainText returns one line without markup, truncated between characters", () => {
    expect(plainText("# Down\n\nIt **is** [down](https://a.example).\n\n- `x`", 100)).toBe(
      "Down It is down. x",
    );
    expect(plainText("😀😀😀", 2)).toBe("😀😀…");
    expect(plainText("a\u202eb", 10)).toBe("ab");
  });
});
