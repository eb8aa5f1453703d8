import { describe, expect, test } from "bun:test";
import { bodyFor, incidentEvent } from "../../support/webhook-formats";

/** Texts as long as an event carries them, each growing in its own way when it is escaped. */
const LONG: Record<string, string> = {
  words: "word ".repeat(800),
  "characters of two units": "😀".repeat(4_000),
  "characters of three bytes": "語".repeat(4_000),
  entities: "&".repeat(4_000),
  quotes: '"'.repeat(4_000),
  "bold words": "**a** ".repeat(666),
  lines: "- a\n".repeat(1_000),
  "one code block": `\`\`\`\n${"x\n".repeat(1_900)}\`\`\``,
  links: "[a](https://example.com/b) ".repeat(148),
};
const NAME = "&".repeat(255);

const bytes = (text: string) => Buffer.byteLength(text);

/** Asserts that a text was cut correctly. */
function expectCut(text: string): void {
  expect(text).toContain("…");
  expect(text.isWellFormed()).toBe(true);
  // The body is truncated, not what follows it.
  expect(text).toContain("Components:");
  expect(text).toContain("Partial outage");
}

describe.each(Object.entries(LONG))("a message of %s", (_kind, text) => {
  const event = incidentEvent(NAME, text);

  test("a long message fits into a Slack text object with complete entities and markup", () => {
    const body = bodyFor("slack", event);
    const section: string = body.attachments[0].blocks[0].text.text;
    expect(section.length).toBeLessThanOrEqual(3_000);
    expect(body.text.length).toBeLessThanOrEqual(3_000);
    expectCut(section);
    expect(section).not.toMatch(/&(?!(amp|lt|gt);)/);
    expect((section.match(/```/g) ?? []).length % 2).toBe(0);
  });

  test("a long message fits into a Discord embed", () => {
    const embed = bodyFor("discord", event).embeds[0];
    expect(embed.title.length).toBeLessThanOrEqual(256);
    expect(embed.title).toEndWith("…");
    expect(embed.description.length).toBeLessThanOrEqual(4_096);
    expect(embed.description).not.toMatch(/(^|[^\\])(\\\\)*\\…/);
    expect(embed.description).toContain("Partial outage");
  });

  test("a long message fits into a Telegram message with closed tags", () => {
    const html: string = bodyFor("telegram", event).text;
    const shown = html.replace(/<[^>]*>/g, "").replace(/&(?:amp|lt|gt|quot);/g, "x");
    expect(shown.length).toBeLessThanOrEqual(4_096);
    expectCut(html);
    const open: string[] = [];
    for (const [, slash, tag = ""] of html.matchAll(/<(\/?)([a-z]+)[^>]*>/g)) {
      if (slash) expect(open.pop()).toBe(tag);
      else open.push(tag);
    }
    expect(open).toEqual([]);
    expect(html.replace(/<\/?[a-z]+( href="[^"]*")?>/g, "")).not.toMatch(
      /[<>]|&(?!(amp|lt|gt|quot);)/,
    );
  });

  test("a long message fits into an ntfy message and request", () => {
    const body = bodyFor("ntfy", event);
    expect(bytes(body.message)).toBeLessThanOrEqual(4_096);
    expect(bytes(JSON.stringify(body))).toBeLessThanOrEqual(8_192);
    expect(body.message.isWellFormed()).toBe(true);
    expect(body.message).toContain("Partial outage");
  });

  test("a long message fits into a Microsoft Teams card", () => {
    expect(bytes(JSON.stringify(bodyFor("teams", event)))).toBeLessThanOrEqual(28_000);
    expect(JSON.stringify(bodyFor("teams", event))).toContain("Partial outage");
  });
});

describe("short messages", () => {
  test("a short text is not truncated, and an already truncated one ends with an ellipsis", () => {
    const whole = incidentEvent("Name", "All of it.");
    const cut = incidentEvent("Name", "", {
      latest_update: { body: "Some of it", truncated: true },
    });
    for (const name of ["slack", "discord", "ntfy", "gotify", "telegram", "teams"] as const) {
      expect(JSON.stringify(bodyFor(name, whole))).not.toContain("…");
      expect(JSON.stringify(bodyFor(name, cut))).toContain("Some of it…");
    }
  });

  test("a message names ten components and the number of others", () => {
    const components = Array.from({ length: 13 }, (_, index) => ({
      name: `C${index}`,
      status: "major_outage",
    }));
    const { message } = bodyFor("ntfy", incidentEvent("Name", "x", { components }));
    expect(message).toContain("• C9: Major outage\n• and 3 more");
    expect(message).not.toContain("C10");
  });
});
