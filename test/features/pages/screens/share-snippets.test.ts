import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { readHtml } from "../../../support/html";
import { createPageDashboard, PAGES } from "../../../support/page-dashboard";
import { updatePage } from "../../../support/examined";

const url = "https://status.test/status/acme";
const NAMES = [
  'Shop"><script>alert(1)</script>',
  "Shop: #1 'quoted' - [x]",
  "!secret \\n & more",
  "{{ states.lock.door }} {% raw %} {# {{{",
];

/** Returns the code that the screen of a page with a name offers, by its beginning. */
async function readCode(name: string): Promise<(beginning: string) => string> {
  await using site = await createPageDashboard();
  const { ctx } = site.app;
  await ctx.db.write((tx) => void updatePage(ctx, tx, site.id, { name }, CLI_ACTOR));
  const { text } = await site.show(`${PAGES}/${site.id}/share`);
  const blocks = [...text.matchAll(/data-code[^>]*><code>(.*?)<\/code>/gs)].map(([, code = ""]) =>
    code
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&"),
  );
  return (beginning) => {
    const [code, ...others] = blocks.filter((block) => block.startsWith(beginning));
    expect(others).toEqual([]);
    return code ?? "";
  };
}

describe("code to copy for a page", () => {
  test.each(NAMES)("is HTML with the name as text: %s", async (name) => {
    const code = await readCode(name);
    expect(readHtml(code("<iframe")).attributes("iframe", "title")).toEqual([`Status of ${name}`]);
    const badge = readHtml(code("<a "));
    expect(badge.attributes("img", "alt")).toEqual([`Status of ${name}`]);
    expect(badge.texts("script")).toEqual([]);
  });

  test.each(NAMES)("is YAML with the name as text: %s", async (name) => {
    const code = await readCode(name);
    const [service] = Bun.YAML.parse(code("- ")) as Record<string, unknown>[];
    expect(Object.keys(service ?? {})).toEqual([name]);
    expect(Bun.YAML.parse(code("rest:"))).toMatchObject({
      rest: [{ resource: `${url}/summary.json` }],
    });
  });

  test("runs no template of Home Assistant that a name contains", async () => {
    const read = async (name: string) => {
      const { rest } = Bun.YAML.parse((await readCode(name))("rest:")) as {
        rest: { sensor: { name: string }[] }[];
      };
      return rest[0]?.sensor[0]?.name ?? "";
    };
    expect(await read("Shop {1}")).toBe("Shop {1} status");
    // The template writes each brace that would begin an expression.
    const written = (template: string) => template.replaceAll("{{ '{' }}", "\0");
    for (const name of NAMES) {
      const template = written(await read(name));
      expect(template).not.toMatch(/\{[{%#]/);
      expect(template.replaceAll("\0", "{")).toBe(`${name} status`);
    }
  });
});
