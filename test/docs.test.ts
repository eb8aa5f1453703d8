import { describe, expect, test } from "bun:test";
import { dirname, join, normalize } from "node:path";
import type { TObject } from "@sinclair/typebox";
import { Glob } from "bun";
import { javaScriptSnippet, shellSnippet } from "../src/features/webhooks/screens/webhooks";
import type { Command, Setting } from "../src/cli/command";
import { usageOf } from "../src/cli/help";
import { listCommands } from "../src/cli/main";
import { PROBE_SETTINGS } from "../src/cli/probe";
import { EXIT, SETTINGS } from "../src/cli/remote/client";
import { OPTIONS } from "../src/base/config/options";
import { EVENTS } from "../src/events/outbox";
import { readApplyFile } from "../src/features/apply/read";
import { ALARM_KINDS, ALARMS } from "../src/features/alarms/kinds";
import { SCOPE_NAMES, SCOPES } from "../src/features/keys/scopes";
import { comingFrom } from "../src/imports/coming-from";
import { FORMATS } from "../src/features/webhooks/formats";
import { PLACEHOLDERS } from "../src/features/webhooks/formats/template";
import { type Preset, PRESETS } from "../src/features/webhooks/presets";
import { RETRY_DELAYS_MS } from "../src/features/webhooks/rules";
import { IMPORT_SOURCES } from "../src/imports/sources";
import { ROLE_SENTENCES, ROLES } from "../src/base/actor";
import { SUPPORTED_TYPES } from "../src/base/status";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../src/base/time";
import { commandsAsMarkdown } from "./support/api-commands";
import { createTestApp } from "./support/app";
import { messageOf, sentBy } from "./support/mcp";
import { toMarkdown } from "./support/coming-from";

const ROOT = join(import.meta.dir, "..");

/** Largest sizes of documents that are read from start to end, in bytes. */
const MAX_BYTES = { "README.md": 8_000, "CONTRIBUTING.md": 7_000, "src/README.md": 20_000 };

function read(document: string): Promise<string> {
  return Bun.file(join(ROOT, document)).text();
}

/** Table of settings, as the table of options makes it. */
function optionsTable(options: readonly Setting<unknown>[] = Object.values(OPTIONS)): string {
  const rows = options.map((option) => {
    const { flag, env, fileEnv, placeholder, default: standard, help } = option;
    const cells = [
      flag === undefined ? "" : `\`--${flag} ${placeholder}\``,
      [env, fileEnv].flatMap((name) => (name === undefined ? [] : `\`${name}\``)).join(", "),
      standard ? `\`${standard}\`` : "",
      help,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return ["| flag | variable | default | |", "|---|---|---|---|", ...rows].join("\n");
}

/** Returns the paths of all documents, from the root of the repository. */
async function listDocuments(): Promise<string[]> {
  const patterns = ["*.md", "{bench,deploy,docs,src,test}/**/*.md"];
  const found = patterns.map((pattern) => Array.fromAsync(new Glob(pattern).scan(ROOT)));
  return (await Promise.all(found)).flat().toSorted();
}

function withoutCodeBlocks(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** Returns the targets of the links and images of a document, without those on other hosts. */
function relativeLinks(markdown: string): string[] {
  const text = withoutCodeBlocks(markdown);
  return [...text.matchAll(/\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"/g)]
    .map(([, link, source]) => link ?? source ?? "")
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Returns the anchors of a document's headings, as GitHub makes them. */
function anchorsOf(markdown: string): string[] {
  return [...withoutCodeBlocks(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Returns the error of a link in a document; undefined if it leads to a file and a heading. */
async function linkError(document: string, link: string): Promise<string | undefined> {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? document : normalize(join(dirname(document), path));
  if (!(await Bun.file(join(ROOT, target)).exists())) return `${document}: no file ${target}`;
  if (anchor === undefined || anchorsOf(await read(target)).includes(anchor)) return undefined;
  return `${document}: no heading #${anchor} in ${target}`;
}

describe("the documents agree with the code", () => {
  test("docs/settings.md contains the table of all options", async () => {
    const settings = await read("docs/settings.md");
    const shown = /<!-- options -->\n([\s\S]*?)\n<!-- \/options -->/.exec(settings)?.[1];
    expect(shown).toBe(optionsTable());
  });

  test("docs/command-line.md lists every command and the settings of those to a server", async () => {
    const commands = await listCommands();
    const rowsOf = (those: readonly Command[]) => {
      const rows = those.map((command) => `| \`${usageOf(command)}\` | ${command.summary} |`);
      return ["| command | effect |", "|---|---|", ...rows].join("\n");
    };
    const { local = [], remote = [] } = Object.groupBy(commands, ({ settings }) =>
      settings === SETTINGS ? "remote" : "local",
    );
    const tables = {
      "local commands": rowsOf(local),
      "remote commands": rowsOf(remote),
      settings: optionsTable(SETTINGS),
      "probe settings": optionsTable(PROBE_SETTINGS),
    };
    const path = "docs/command-line.md";
    const replaced = Object.entries(tables).reduce(
      (text, [name, table]) => {
        const pattern = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
        return text.replace(
          pattern,
          (_, before: string, after: string) => `${before}${table}\n${after}`,
        );
      },
      await read(path),
    );
    if (process.env["UPDATE_GOLDEN"] === "1") await Bun.write(join(ROOT, path), replaced);
    expect(await read(path)).toBe(replaced);
  });

  test("docs/command-line.md lists the exit codes", async () => {
    const shown = (await read("docs/command-line.md")).matchAll(/^\| (\d+) \|/gm);
    expect(Array.from(shown, ([, code]) => Number(code))).toEqual([
      0,
      EXIT.refused,
      2,
      EXIT.credential,
      EXIT.noAnswer,
      EXIT.conflict,
      EXIT.failOn,
      125,
    ]);
  });

  test("docs/api.md lists exactly the scopes, with their sentences", async () => {
    const rows = Object.entries(SCOPES).map(
      ([scope, sentence]) => `| \`${scope}\` | ${sentence} |`,
    );
    const shown = (await read("docs/api.md")).match(/^\| `(?:read|write|manage):.*$/gm);
    expect([...(shown ?? [])]).toEqual(rows);
  });

  test("docs/dashboard.md lists exactly the roles, with their sentences", async () => {
    const rows = ROLES.map((role) => `| \`${role}\` | ${ROLE_SENTENCES[role]} |`);
    const shown = (await read("docs/dashboard.md")).match(
      /^\| `(?:owner|admin|editor|viewer)` \|.*$/gm,
    );
    expect([...(shown ?? [])]).toEqual(rows);
  });

  test("docs/monitors.md lists exactly the types of monitors", async () => {
    const [, table = ""] = /^## Types\n([\s\S]*?)^## /m.exec(await read("docs/monitors.md")) ?? [];
    const shown = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, type]) => type);
    expect(shown).toEqual([...SUPPORTED_TYPES]);
  });

  test("docs/webhooks.md lists the formats with the source of their URL and their settings", async () => {
    const rows = Object.values(FORMATS).map(({ name, hint, settings }) => {
      const names = Object.keys((settings as TObject).properties).map((one) => `\`${one}\``);
      return `| \`${name}\` | ${hint} | ${names.join(", ")} |`;
    });
    const head = "| format | URL | settings |\n|---|---|---|\n";
    expect(await read("docs/webhooks.md")).toContain(`${head}${rows.join("\n")}\n\n`);
  });

  test("docs/webhooks.md lists the placeholders of templates, and the presets", async () => {
    const text = await read("docs/webhooks.md");
    const placeholders = Object.entries(PLACEHOLDERS).map(
      ([name, value]) => `| \`{${name}}\` | ${value} |`,
    );
    const head = "| placeholder | value |\n|---|---|\n";
    expect(text).toContain(`${head}${placeholders.join("\n")}\n| \`{secret.NAME}\` |`);
    const presets = Object.values<Preset>(PRESETS).map(
      ({ label, hint, resolve }) =>
        `| ${label} | ${resolve ? "begin and end" : "messages"} | ${hint} |`,
    );
    const presetHead = "| preset | sends | at the service |\n|---|---|---|\n";
    expect(text).toContain(`${presetHead}${presets.join("\n")}\n\n`);
  });

  test("docs/webhooks.md lists the pace of each format that has one", async () => {
    const seconds = (ms: number) => `${ms / 1_000} s`;
    const rows = Object.values(FORMATS)
      .filter(({ pace }) => pace.length > 0)
      .map(({ name, pace }) => {
        const limits = pace.map((limit) =>
          "burst" in limit
            ? `${limit.burst}, then 1 in ${seconds(limit.everyMs)}`
            : `${limit.count} in ${seconds(limit.inMs)}`,
        );
        return `| \`${name}\` | ${limits.join(", ")} |`;
      });
    const head = "| format | messages to one destination |\n|---|---|\n";
    expect(await read("docs/webhooks.md")).toContain(`${head}${rows.join("\n")}\n\n`);
  });

  // UPDATE_GOLDEN=1 writes the commands again; review the difference.
  test("docs/api.md contains a command for each operation of the API", async () => {
    await using app = await createTestApp();
    const document = (await app.call("/openapi.json")).body;
    const found = await read("docs/api.md");
    const current = found.replace(
      /<!-- commands -->[\s\S]*<!-- \/commands -->/,
      () => `<!-- commands -->\n${commandsAsMarkdown(document)}\n<!-- /commands -->`,
    );
    if (process.env["UPDATE_GOLDEN"] === "1") await Bun.write(join(ROOT, "docs/api.md"), current);
    expect(found).toBe(current);
  });

  // UPDATE_GOLDEN=1 writes the file again; review the difference.
  test("docs/coming-from.md is made of the tables of the importers", async () => {
    const current = toMarkdown(comingFrom());
    if (process.env["UPDATE_GOLDEN"] === "1") {
      await Bun.write(join(ROOT, "docs/coming-from.md"), current);
    }
    expect(await read("docs/coming-from.md")).toBe(current);
  });

  test("docs/coming-from.md has a chapter for every product from which this version imports", async () => {
    const [, ...chapters] = (await read("docs/coming-from.md")).split(/^## /m);
    const products = IMPORT_SOURCES.map(({ product }) => product);
    expect(chapters.map((chapter) => chapter.split("\n", 1)[0]).toSorted()).toEqual(
      products.toSorted(),
    );
    for (const { kind } of IMPORT_SOURCES) {
      expect(chapters.join("")).toContain(`allclear import ${kind} `);
    }
  });

  // UPDATE_GOLDEN=1 writes the table again.
  test("docs/fleet.md contains the table of all alarms", async () => {
    const fleet = await read("docs/fleet.md");
    const rows = ALARM_KINDS.map((kind) => {
      const { name, severity, condition } = ALARMS[kind];
      return `| \`${kind}\` | ${name} | ${severity} | ${condition} |`;
    });
    const table = ["| kind | name | severity | condition |", "|---|---|---|---|", ...rows];
    const current = fleet.replace(
      /<!-- alarms -->[\s\S]*<!-- \/alarms -->/,
      `<!-- alarms -->\n${table.join("\n")}\n<!-- /alarms -->`,
    );
    if (process.env["UPDATE_GOLDEN"] === "1") {
      await Bun.write(join(ROOT, "docs/fleet.md"), current);
    }
    expect(fleet).toBe(current);
  });

  // UPDATE_GOLDEN=1 writes the table again.
  test("docs/agents.md contains the table of all tools, with their scopes and arguments", async () => {
    await using app = await createTestApp();
    const rows: string[] = [];
    for (const scope of SCOPE_NAMES) {
      const key = await app.keyWith(scope);
      const { body } = await app.call("/mcp", sentBy(key, messageOf("tools/list")));
      for (const { name, inputSchema, description } of body.result.tools) {
        const names = Object.keys(inputSchema.properties).map((argument) => `\`${argument}\``);
        rows.push(`| \`${name}\` | \`${scope}\` | ${names.join(", ")} | ${description} |`);
      }
    }
    const table = ["| tool | scope | arguments | |", "|---|---|---|---|", ...rows];
    const agents = await read("docs/agents.md");
    const current = agents.replace(
      /<!-- tools -->[\s\S]*<!-- \/tools -->/,
      () => `<!-- tools -->\n${table.join("\n")}\n<!-- /tools -->`,
    );
    if (process.env["UPDATE_GOLDEN"] === "1") {
      await Bun.write(join(ROOT, "docs/agents.md"), current);
    }
    expect(agents).toBe(current);
  });

  test("docs/webhooks.md names every type of event", async () => {
    const webhooks = await read("docs/webhooks.md");
    for (const type of Object.keys(EVENTS)) expect(webhooks).toContain(`\`${type}\``);
  });

  test("docs/webhooks.md has the dashboard's verification programs, with a valid example", async () => {
    const webhooks = await read("docs/webhooks.md");
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const shell = shellSnippet(secret, Date.UTC(2026, 0, 1, 12));
    expect(webhooks).toContain(`\`\`\`sh\n${shell}\n\`\`\``);
    expect(webhooks).toContain(`\`\`\`js\n${javaScriptSnippet(secret)}\n\`\`\``);
  });

  test("docs/webhooks.md gives the waits between the attempts of a delivery", async () => {
    const units = [
      { ms: HOUR_MS, name: "h" },
      { ms: MINUTE_MS, name: "min" },
      { ms: SECOND_MS, name: "s" },
    ];
    const waits = RETRY_DELAYS_MS.map((wait) => {
      const unit = units.find(({ ms }) => wait >= ms);
      return unit && `${wait / unit.ms} ${unit.name}`;
    });
    expect(await read("docs/webhooks.md")).toContain(
      `${waits.slice(0, -1).join(", ")} and ${waits.at(-1)}`,
    );
  });

  test("docs/configuration-file.md has an example that apply accepts", async () => {
    const [, file = ""] =
      /```yaml\n([\s\S]*?)```/.exec(await read("docs/configuration-file.md")) ?? [];
    const { content } = readApplyFile(file, {
      API_TOKEN: "secret",
      SLACK_URL: "https://hooks.slack.com/services/T0/B0/x",
      WEBHOOK_SECRET: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    });
    expect(content.pages[0]?.components?.[0]?.monitors).toHaveLength(1);
    expect(content.monitors).toHaveLength(1);
    expect(content.webhooks).toHaveLength(2);
  });

  test("the README has an example file that apply accepts", async () => {
    const [, file = ""] = /<<'EOF'\n([\s\S]*?)^EOF$/m.exec(await read("README.md")) ?? [];
    const { content } = readApplyFile(file, {});
    expect(content.pages[0]?.groups?.[0]?.components).toHaveLength(2);
  });
});

describe("the documents are short and linked", () => {
  test("the README opens with the commands that start the server and run the tests", async () => {
    const readme = await read("README.md");
    const opening = readme.slice(0, readme.indexOf("## "));
    expect(opening).toContain("npx -y bun@1.4.5 start ");
    expect(opening).toContain("npx -y bun@1.4.5 run test ");
  });

  test.each(Object.entries(MAX_BYTES))("%s has at most %d bytes", async (document, most) => {
    expect(Buffer.byteLength(await read(document))).toBeLessThanOrEqual(most);
  });

  test("every relative link leads to a file, and its anchor to a heading of that file", async () => {
    const errors: (string | undefined)[] = [];
    for (const document of await listDocuments()) {
      for (const link of relativeLinks(await read(document))) {
        errors.push(await linkError(document, link));
      }
    }
    expect(errors.filter((error) => error !== undefined)).toEqual([]);
    expect(errors.length).toBeGreaterThan(40);
  });

  test("every source file that a document names exists", async () => {
    const folders = ["", "src", "src/features", "src/features/monitors"];
    const missing: string[] = [];
    let count = 0;
    for (const document of await listDocuments()) {
      for (const [, path = ""] of (await read(document)).matchAll(
        /`((?:[\w.-]+\/)+[\w.-]+\.tsx?)`/g,
      )) {
        count += 1;
        const places = folders.map((folder) => Bun.file(join(ROOT, folder, path)).exists());
        if (!(await Promise.all(places)).includes(true)) missing.push(`${document}: ${path}`);
      }
    }
    expect(missing).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });

  test("the README links to every document in docs/", async () => {
    const linked = relativeLinks(await read("README.md")).map((link) => link.split("#")[0]);
    for (const document of await listDocuments()) {
      if (document.startsWith("docs/")) expect(linked).toContain(document);
    }
  });

  test("the headings of a document have different anchors", async () => {
    for (const document of await listDocuments()) {
      const anchors = anchorsOf(await read(document));
      expect(anchors, document).toEqual([...new Set(anchors)]);
    }
  });
});
