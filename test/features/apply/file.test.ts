import { describe, expect, test } from "bun:test";
import { readApplyFile } from "../../../src/features/apply/read";
import { ApplyFileError } from "../../../src/features/apply/run";

function problemsOf(text: string): string[] {
  try {
    readApplyFile(text);
  } catch (error) {
    if (error instanceof ApplyFileError) return error.message.split("\n");
    throw error;
  }
  return [];
}

describe("mistakes in a configuration file", () => {
  test.each<[string, string, string[]]>([
    [
      "more than 100 lists inside each other",
      "[".repeat(770_000),
      ["line 1: more than 100 maps and lists are inside each other."],
    ],
    [
      "a key twice",
      "pages:\n  - slug: a\n    slug: b\n    name: x",
      ["line 3: Map keys must be unique"],
    ],
    [
      "an unknown key",
      "pages:\n  - slug: acme\n    name: x\n    colour: red",
      ["line 4: pages[0].colour is not a known field"],
    ],
    [
      "an unknown key in a component, and a missing name",
      "pages:\n  - slug: acme\n    name: x\n    components:\n      - nam: y",
      [
        "line 5: pages[0].components[0].name is required",
        "line 5: pages[0].components[0].nam is not a known field: did you mean name?",
      ],
    ],
    [
      "a reserved slug",
      "pages:\n  - slug: api\n    name: x",
      ["line 2: pages[0].slug is reserved"],
    ],
    [
      "an unknown zone",
      "pages:\n  - slug: acme\n    name: x\n    time_zone: Mars",
      ["line 4: pages[0].time_zone must be a time zone, such as Europe/Berlin"],
    ],
    [
      "a day that is none",
      "pages:\n  - slug: acme\n    name: x\n    components:\n      - name: y\n        start_date: 2026-02-31",
      ["line 6: pages[0].components[0].start_date must be a day of the calendar, YYYY-MM-DD"],
    ],
    [
      "two components with one ref",
      "pages:\n  - slug: acme\n    name: x\n    components:\n      - name: API\n      - name: api",
      ["line 6: pages[0].components[1] has the same ref as an earlier one: api"],
    ],
    [
      "two pages with one slug",
      "pages:\n  - slug: acme\n    name: x\n  - slug: acme\n    name: y",
      ["line 4: pages[1] has the same slug as an earlier one: acme"],
    ],
    [
      "two default pages",
      "pages:\n  - { slug: a, name: x, default: true }\n  - { slug: b, name: y, default: true }",
      ["line 3: pages[1].default is already true for an earlier page"],
    ],
    [
      "a name without a letter and no ref",
      'pages:\n  - slug: acme\n    name: x\n    components:\n      - name: "🎉"',
      [
        "line 5: pages[0].components[0].ref is required, such as api, since none can be made from the name",
      ],
    ],
    [
      "a number for a slug",
      "pages:\n  - slug: 5\n    name: x",
      ["line 2: pages[0].slug must be text"],
    ],
    [
      "a status",
      "pages:\n  - slug: acme\n    name: x\n    components:\n      - { name: y, status: operational }",
      ["line 5: pages[0].components[0].status is not a known field"],
    ],
    [
      "an old ref that something else in the file has",
      "pages:\n  - slug: acme\n    name: x\n    components:\n      - name: b\n      - name: a\n        previous_refs: [b]",
      [
        "line 7: pages[0].components[1].previous_refs names b, which is the ref of another object in the file",
      ],
    ],
    [
      "an alias that leads nowhere",
      "pages: *x",
      ["line 1: Unresolved alias (the anchor must be set before the alias): x"],
    ],
    [
      "an alias within its own anchor",
      "pages: &pages\n  - slug: acme\n    name: x\n    groups: *pages",
      ["line 1: the aliases stand for too many values"],
    ],
    [
      "aliases of aliases that stand for too much",
      `x-0: &a0 [1, 2]\n${Array.from({ length: 40 }, (_, at) => `x-${at + 1}: &a${at + 1} [*a${at}, *a${at}]\n`).join("")}pages: []`,
      ["line 1: the aliases stand for too many values"],
    ],
    [
      "a custom domain with a port, the second of its list",
      "pages:\n  - slug: acme\n    name: x\n    custom_domains:\n      - a.example\n      - b.example:8080",
      [
        "line 6: pages[0].custom_domains[1] must be a host name such as status.example.com, without https://, port or path",
      ],
    ],
    ["nothing at all", "", ["line 1: the file is empty: it needs at least pages: []"]],
    ["a comment alone", "# pages", ["line 1: the file is empty: it needs at least pages: []"]],
    ["a list", "- name: a", ["line 1: the file must be an object"]],
    [
      "keys that are written alike, or belong elsewhere",
      "pages: []\nmonitors:\n  - name: a\n    type: tcp\n    host: b\n    interval: 30\n    depends-on: [c]\n    tag: d\n    xy: 1\n    config: {}",
      [
        "line 5: monitors[0].host is not a known field: it belongs in config",
        "line 6: monitors[0].interval is not a known field: did you mean interval_seconds?",
        "line 7: monitors[0].depends-on is not a known field: did you mean depends_on?",
        "line 8: monitors[0].tag is not a known field: did you mean tags?",
        "line 9: monitors[0].xy is not a known field",
        "line 10: monitors[0].config.host is required",
        "line 10: monitors[0].config.port is required",
      ],
    ],
    [
      "a variable between brackets without quotes",
      'pages: []\nwebhooks:\n  - { url: "https://a.example", secret: ${SECRET} }\n  - { url: b }',
      ['line 3: ${SECRET} needs quotes between { and } or [ and ]: "${SECRET}"'],
    ],
    [
      "another error on a line with a variable",
      'pages: []\nwebhooks:\n  - { url: "${URL}", secret: "x }',
      [
        'line 3: Missing closing "quote',
        "line 3: Flow map in block collection must be sufficiently indented and end with a }",
      ],
    ],
    [
      "the name of a monitor instead of its ref",
      "pages: []\nmonitors:\n  - { name: A, type: tcp, config: { host: b, port: 1 }, depends_on: [Main Router] }",
      [
        "line 3: monitors[0].depends_on[0] must have only lower-case letters, digits and hyphens, such as checkout-api",
      ],
    ],
    ["no pages", "{}", ["line 1: pages is required"]],
  ])("a file with this mistake is rejected with its line: %s", (_name, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  test("a text that is not YAML is rejected with its line", () => {
    expect(problemsOf("pages: [")[0]).toStartWith("line 1: ");
    expect(problemsOf("pages:\n\t- slug: a")[0]).toStartWith("line 2: ");
    expect(problemsOf("pages: !!js/function 'x'")[0]).toStartWith("line 1: ");
  });

  test("a correct file has no errors", () => {
    expect(problemsOf("pages:\n  - slug: acme\n    name: x\n    groups: []")).toEqual([]);
  });
});
