import { describe, expect, test } from "bun:test";
import { COMPONENT_STATUSES, STATUS_TONES } from "../../src/base/status";
import { renderBadge } from "../../src/public/badges";
import { expectProblem } from "../support/app";
import { createFollowedPage, parseXml } from "../support/feed-site";

describe("the page's badge", () => {
  test("a page's badge shows the page's name and headline, also to screen readers", async () => {
    await using site = await createFollowedPage();
    const { text, headers } = await site.read("badge.svg");
    const { svg } = parseXml(text);
    expect(svg).toMatchObject({
      role: "img",
      "aria-label": "Acme: All Systems Operational",
      title: "Acme: All Systems Operational",
      height: "20",
    });
    expect(svg.g.text.map((part: { "#text": string }) => part["#text"])).toEqual([
      "Acme",
      "All Systems Operational",
    ]);
    expect(headers.get("content-security-policy")).toBe("default-src 'none'");
  });

  test("a page's badge changes at the next request after an incident, as SVG and for shields.io", async () => {
    await using site = await createFollowedPage();
    const before = (await site.read("badge.json")).body;
    expect(before).toEqual({
      schemaVersion: 1,
      label: "Acme",
      message: "All Systems Operational",
      color: "15753f",
    });
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    expect((await site.read("badge.json")).body).toEqual({
      ...before,
      message: "Major System Outage",
      color: "b8202b",
    });
    expect((await site.read("badge.svg")).text).toContain("Major System Outage");
    await site.send("POST", `/incidents/${id}/updates`, { status: "resolved", body: "Mended." });
    expect((await site.read("badge.json")).body).toEqual(before);
  });
});

describe("a component's badge", () => {
  test("a component's badge shows its name and status", async () => {
    await using site = await createFollowedPage();
    expect((await site.read(`badge/${site.api}.svg`)).text).toContain("API: Operational");
    await site.send("PATCH", `/components/${site.api}`, { status: "partial_outage" });
    expect((await site.read(`badge/${site.api}.svg`)).text).toContain("API: Partial outage");
  });

  test("a component's badge is not_found for another page's or an unknown component, and without .svg", async () => {
    await using site = await createFollowedPage();
    const other = await site.app.page({ slug: "other", name: "Other" }, ["Elsewhere"]);
    const elsewhere = other.components["Elsewhere"] ?? "";
    expect((await site.app.call(`/status/other/badge/${elsewhere}.svg`)).status).toBe(200);
    for (const file of [`${elsewhere}.svg`, "cmp_x.svg", ".svg", site.api, `${site.api}.svg.svg`]) {
      expectProblem(await site.read(`badge/${file}`), "not_found");
    }
  });
});

describe("a badge", () => {
  test("badges of each status differ in shape, words and colour", () => {
    const parts = COMPONENT_STATUSES.map((status) => {
      const { svg } = parseXml(
        renderBadge({ label: "API", message: status, tone: STATUS_TONES[status] }),
      );
      return { shape: svg.path[1].d, words: svg.g.text[1]["#text"], colour: svg.rect.fill };
    });
    for (const part of ["shape", "words", "colour"] as const) {
      expect(new Set(parts.map((one) => one[part])).size).toBe(COMPONENT_STATUSES.length);
    }
  });

  test.each([
    "]]>",
    '"><script>alert(1)</script>',
    "<a href='x'> & &amp;",
    "👩‍👩‍👧‍👦 日本語",
    "\ufffe\uffff no character",
    "n".repeat(255),
    "🔥".repeat(255),
    `Z${"\u0301".repeat(254)}`,
  ])("a badge with the name %j is well-formed and as wide as its text", async (name) => {
    await using site = await createFollowedPage({ name }, name);
    const whole = name.replace(/[\ufffe\uffff]/g, "");
    for (const file of ["badge.svg", `badge/${site.api}.svg`]) {
      const { text } = await site.read(file);
      expect(text).not.toContain("<script");
      const { svg } = parseXml(text);
      expect(svg.title).toStartWith(whole.trim());
      expect(Number(svg.width)).toBeLessThan(900);
      const [label, message] = svg.g.text;
      const end = (part: { x: string; textLength: string }) =>
        Number(part.x) + Number(part.textLength);
      expect(end(label)).toBeLessThan(Number(message.x));
      expect(end(message)).toBeLessThan(Number(svg.width));
    }
    const { label } = (await site.read("badge.json")).body;
    expect([...new Intl.Segmenter("en").segment(label)].length).toBeLessThanOrEqual(40);
  });
});
