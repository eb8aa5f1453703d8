import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { h } from "preact";
import { ButtonLink, safeHref } from "../../src/ui/buttons";

describe("a link's target", () => {
  test.each([
    "/",
    "/admin/settings/api-keys?q=a%20b#top",
    "?cursor=2",
    "#field-name",
    "http://nas/",
    "https://status.example.com:8443/a?b=c",
    "HTTPS://EXAMPLE.COM",
  ])("a link to %s is accepted", (url) => {
    expect(safeHref(url)).toBe(url);
  });

  test.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "java\tscript:alert(1)",
    " javascript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://example.com/1",
    "mailto:a@example.com",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "https://status.example.com@evil.example/",
    "https://user:password@evil.example/",
    "https:/evil.example",
    "https:evil.example",
    "https://",
    "http://[",
    "evil.example",
    "",
  ])("a link to %j is rejected", (url) => {
    expect(safeHref(url)).toBeUndefined();
  });

  test("a rejected link is rendered without href", () => {
    const link = (href: string) => renderToString(h(ButtonLink, { href, children: "Go" }));
    expect(link("javascript:alert(1)")).not.toContain("href");
    expect(link("/admin")).toContain('href="/admin"');
  });
});
