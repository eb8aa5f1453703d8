import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { TextArea } from "../../src/ui/form";

/**
 * Returns the value of a text area as an HTML parser reads it: without a line break directly after
 * its tag.
 */
function valueOf(value: string | undefined): string {
  const html = renderToString(<TextArea label="Message" name="body" value={value} />);
  const [, content = ""] = /<textarea[^>]*>([^]*)<\/textarea>/.exec(html) ?? [];
  return content.replace(/\r\n?/g, "\n").replace(/^\n/, "");
}

describe("a text area", () => {
  test("a text area keeps empty lines at the beginning and end of its text", () => {
    expect(valueOf("\nFirst\n")).toBe("\nFirst\n");
    expect(valueOf("\r\nFirst")).toBe("\nFirst");
    expect(valueOf("\n\n")).toBe("\n\n");
  });

  test("a text area shows other texts and no text unchanged", () => {
    expect(valueOf("First\nSecond")).toBe("First\nSecond");
    expect(valueOf("")).toBe("");
    expect(valueOf(undefined)).toBe("");
  });
});
