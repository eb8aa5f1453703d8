import { describe, expect, test } from "bun:test";
import {
  badgeHtml,
  frame,
  homeAssistant,
  homepage,
} from "../../../src/features/pages/screens/share-snippets";
import { readHtml } from "../../support/html";

const url = "https://status.test/status/shop";
const NAMES = [
  'Shop"><script>alert(1)</script>',
  "Shop: #1 'quoted' - [x]",
  "!secret \\n & more",
  "{{ states.lock.door }} {% raw %} {# {{{",
];

describe("code to copy for a page", () => {
  test.each(NAMES)("is HTML with the name as text: %s", (name) => {
    expect(readHtml(frame({ name, url })).attributes("iframe", "title")).toEqual([
      `Status of ${name}`,
    ]);
    const badge = readHtml(badgeHtml({ name, url }));
    expect(badge.attributes("img", "alt")).toEqual([`Status of ${name}`]);
    expect(badge.texts("script")).toEqual([]);
  });

  test.each(NAMES)("is YAML with the name as text: %s", (name) => {
    const [service] = Bun.YAML.parse(homepage({ name, url })) as Record<string, unknown>[];
    expect(Object.keys(service ?? {})).toEqual([name]);
    expect(Bun.YAML.parse(homeAssistant({ name, url }))).toMatchObject({
      rest: [{ resource: `${url}/summary.json` }],
    });
  });

  test("runs no template of Home Assistant that a name contains", () => {
    const read = (name: string) => {
      const { rest } = Bun.YAML.parse(homeAssistant({ name, url })) as {
        rest: { sensor: { name: string }[] }[];
      };
      return rest[0]?.sensor[0]?.name ?? "";
    };
    expect(read("Shop {1}")).toBe("Shop {1} status");
    // The template writes each brace that would begin an expression.
    const written = (template: string) => template.replaceAll("{{ '{' }}", "\0");
    for (const name of NAMES) {
      expect(written(read(name))).not.toMatch(/\{[{%#]/);
      expect(written(read(name)).replaceAll("\0", "{")).toBe(`${name} status`);
    }
  });
});
