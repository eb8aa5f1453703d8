import { describe, expect, test } from "bun:test";
import { configFileSchema, DESCRIPTIONS } from "../../../src/features/apply/schema";
import { readApplyFile } from "../../../src/features/apply/read";
import { SUPPORTED_TYPES } from "../../../src/base/status";
import { createTestApp } from "../../support/app";
import { apply } from "../../support/apply";
import { createSchemaCheck } from "../../support/config-file-schema";

const errorsOf = createSchemaCheck();

function acceptedByApply(text: string): boolean {
  try {
    readApplyFile(text, { TOKEN: "1:token", URL: "https://hooks.slack.com/services/T1/B1/x" });
    return true;
  } catch {
    return false;
  }
}

const inPage = (lines: string) => `pages:\n  - slug: acme\n    name: Acme\n    ${lines}\n`;
const monitor = (fields: string) => `pages: []\nmonitors:\n  - { name: Shop, ${fields} }\n`;
const webhook = (fields: string) => `pages: []\nwebhooks:\n  - { ref: chat, ${fields} }\n`;

const RIGHT: readonly [what: string, text: string][] = [
  ["an empty installation", "pages: []\n"],
  ["a page", inPage("time_zone: Europe/Berlin")],
  ["a group", inPage("groups: [{ name: Shop, components: [{ name: Cart, tags: [a] }] }]")],
  [
    "rules for visitors",
    inPage('access: { password: "${TOKEN} and more", networks: [10.0.0.0/8, "2001:db8::1"] }'),
  ],
  ["a password that is removed", inPage("access: { password: null }")],
  ["a note at the top", "x-owner: { team: web }\npages: []\n"],
  [
    "notes in objects",
    inPage("x-note: 1\n    groups: [{ name: A, x-b: [], components: [{ name: B, x-c: null }] }]"),
  ],
  [
    "notes in a monitor",
    monitor("type: tcp, x-runbook: https://wiki.example, config: { host: a.example, port: 1 }"),
  ],
  [
    "a header that begins like a note",
    monitor('type: http, config: { url: "https://a.example", headers: { x-api-key: "${TOKEN}" } }'),
  ],
  [
    "a secret that is kept",
    monitor('type: http, config: { url: "https://a.example", headers: { x-api-key: null } }'),
  ],
  [
    "a secret that is removed",
    monitor('type: postgres, config: { host: db.example, user: me, password: "" }'),
  ],
  ["a URL that is a variable", webhook('format: slack, url: "${URL}"')],
  ["a URL that is kept", webhook("format: slack, url: null")],
  [
    "a token that is a variable",
    webhook(
      'format: telegram, url: "https://api.telegram.org", settings: { bot_token: "${TOKEN}", chat_id: "1" }',
    ),
  ],
  ["a template", "pages: []\nincident_templates: [{ name: A, title: B, body: C, x-note: 1 }]\n"],
  [
    "merged keys",
    `x-defaults: &defaults { interval_seconds: 30, failure_threshold: 5 }
pages: []
monitors:
  - <<: *defaults
    name: Shop
    type: tcp
    failure_threshold: 2
    config: { host: a.example, port: 1 }
`,
  ],
  [
    "several merged maps",
    `x-a: &a { interval_seconds: 30 }
x-b: &b { type: tcp, config: { host: a.example, port: 1 } }
pages: []
monitors: [{ <<: [*a, *b], name: Shop }]
`,
  ],
];

const WRONG: readonly [what: string, text: string][] = [
  ["no pages", "monitors: []\n"],
  ["an unknown key at the top", "pages: []\npage: []\n"],
  ["a note without a hyphen", "pages: []\nxnote: 1\n"],
  ["an unknown field of a page", inPage("timezone: UTC")],
  ["a wrong type", inPage("history_days: ninety")],
  ["a number out of range", inPage("history_days: 400")],
  ["a slug in capitals", "pages: [{ slug: ACME, name: Acme }]\n"],
  ["a value that is none of those", inPage("theme: pink")],
  ["links of a page", inPage("access: { links: [] }")],
  ["a network that is a number", inPage("access: { networks: [10] }")],
  ["a component without a name", inPage("components: [{ ref: a }]")],
  [
    "an unknown field below a group",
    inPage("groups: [{ name: A, components: [{ name: B, show: 1 }] }]"),
  ],
  ["a monitor of no type", monitor("config: { host: a.example }")],
  ["a monitor of an unknown type", monitor("type: telnet, config: { host: a.example }")],
  ["a config of another type", monitor('type: tcp, config: { url: "https://a.example" }')],
  ["a note in a config", monitor("type: tcp, config: { host: a.example, port: 1, x-note: 1 }")],
  ["a config that lacks a field", monitor("type: tcp, config: { host: a.example }")],
  ["a webhook without its URL", webhook("format: standard")],
  ["a webhook whose URL cannot be kept", webhook("url: null")],
  ["settings of another format", webhook('url: "https://a.example", settings: { token: a }')],
  ["a template without a text", "pages: []\nincident_templates: [{ name: A, title: B }]\n"],
  ["a list in the place of an object", "pages: [[]]\n"],
  [
    "a merged key that is unknown",
    "x-a: &a { nothing: 1 }\npages: [{ <<: *a, slug: a, name: A }]\n",
  ],
];

describe("the schema of the configuration file", () => {
  test.each(RIGHT)("%s is accepted by the schema and by apply", (_, text) => {
    expect(errorsOf(text)).toEqual([]);
    expect(acceptedByApply(text)).toBe(true);
  });

  test.each(WRONG)("%s is rejected by the schema and by apply", (_, text) => {
    expect(errorsOf(text)).not.toEqual([]);
    expect(acceptedByApply(text)).toBe(false);
  });

  test("every field has a description, and every description belongs to a field", () => {
    const missing: string[] = [];
    const used = new Set<string>();
    const walk = (value: unknown, name: string): void => {
      if (typeof value !== "object" || value === null) return;
      if (Array.isArray(value)) return value.forEach((item) => walk(item, name));
      for (const [key, part] of Object.entries(value)) {
        if (key === "definitions" || key === "if" || key === "then") continue;
        if (key !== "properties") {
          walk(part, name);
          continue;
        }
        for (const [field, schema] of Object.entries(part as Record<string, object>)) {
          const text = JSON.stringify(schema);
          if (!text.includes('"description"')) missing.push(`${name}.${field}`);
          for (const owner of [name, "every"]) {
            if (text.startsWith(`{"description":${JSON.stringify(DESCRIPTIONS[owner]?.[field])}`)) {
              used.add(`${owner}.${field}`);
            }
          }
          walk(schema, name);
        }
      }
    };
    const { definitions, ...root } = configFileSchema();
    walk(root, "file");
    for (const [name, schema] of Object.entries(definitions as object)) walk(schema, name);
    expect(missing).toEqual([]);
    const declared = Object.entries(DESCRIPTIONS).flatMap(([owner, fields]) =>
      Object.keys(fields).map((field) => `${owner}.${field}`),
    );
    expect(declared.filter((one) => !used.has(one))).toEqual([]);
  });

  test("a monitor has one shape for each type that can be checked", () => {
    const { definitions } = configFileSchema() as {
      definitions: { monitor: { oneOf: { properties: { type: { enum: string[] } } }[] } };
    };
    const types = definitions.monitor.oneOf.map(({ properties }) => properties.type.enum);
    expect(types).toEqual(SUPPORTED_TYPES.map((type) => [type]));
  });

  test("the server sends it to editors of any origin, and it stays the same", async () => {
    await using app = await createTestApp();
    const { body, headers, text } = await app.call("/schema/config.json");
    expect(body).toEqual(JSON.parse(JSON.stringify(configFileSchema())));
    expect(headers.get("content-type")).toStartWith("application/schema+json");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    const etag = headers.get("etag") ?? "";
    const again = await app.call("/schema/config.json", { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
    expect(text).not.toContain("status.test");
  });

  test("an anchor can be used by any number of objects", () => {
    const monitors = Array.from(
      { length: 300 },
      (_, at) =>
        `  - { <<: *a, name: M${at}, type: tcp, config: { host: a.example, port: 1 }, tags: *tags }\n`,
    );
    const file = `x-a: &a { interval_seconds: 30 }\nx-tags: &tags [shop]\npages: []\nmonitors:\n${monitors.join("")}`;
    const { content } = readApplyFile(file);
    expect(content.monitors).toHaveLength(300);
    expect(content.monitors?.at(-1)).toMatchObject({ interval_seconds: 30, tags: ["shop"] });
  });

  test("merged keys and notes do not change what apply makes", async () => {
    await using app = await createTestApp();
    const plain = monitor(
      "type: tcp, interval_seconds: 30, failure_threshold: 2, config: { host: a.example, port: 1 }",
    );
    await apply(app, plain);
    const [, merged = ""] = RIGHT.find(([what]) => what === "merged keys") ?? [];
    expect((await apply(app, merged)).changes).toEqual([]);
  });
});
