import { describe, expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { javaScriptSnippet, shellSnippet } from "../src/admin/webhooks/snippets";
import { OPTIONS } from "../src/config";
import { EVENTS } from "../src/events";
import { readApplyFile } from "../src/features/apply";
import { SCOPES } from "../src/features/keys";
import { FORMATS } from "../src/features/webhooks";
import { RETRY_DELAYS_MS } from "../src/features/webhooks/rules";
import { ROLE_SENTENCES, ROLES } from "../src/domain/role";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../src/kernel/time";

const README = await Bun.file(new URL("../README.md", import.meta.url)).text();

/** The README's table of settings, as the table of options makes it. */
function optionsTable(): string {
  const rows = Object.values(OPTIONS).map(
    (option) =>
      `| \`--${option.flag} ${option.placeholder}\` | \`${option.env}\` | ${option.default ? `\`${option.default}\`` : ""} | ${option.help} |`,
  );
  return ["| flag | variable | default | |", "|---|---|---|---|", ...rows].join("\n");
}

describe("the README agrees with the catalogs", () => {
  test("its settings are the options", () => {
    const shown = /<!-- options -->\n([\s\S]*?)\n<!-- \/options -->/.exec(README)?.[1];
    expect(shown).toBe(optionsTable());
  });

  test("its scopes are the scopes, with their sentences", () => {
    for (const [scope, sentence] of Object.entries(SCOPES)) {
      expect(README).toContain(`| \`${scope}\` | ${sentence} |`);
    }
    expect(README.match(/^\| `(read|write|manage):/gm)).toHaveLength(Object.keys(SCOPES).length);
  });

  test("its roles are the roles, with their sentences", () => {
    const rows = ROLES.map((role) => `| \`${role}\` | ${ROLE_SENTENCES[role]} |`);
    const shown = README.match(/^\| `(?:owner|admin|editor|viewer)` \|.*$/gm);
    expect([...(shown ?? [])]).toEqual(rows);
  });

  test("its formats of webhooks are the formats, with where a URL is found and what is set", () => {
    const rows = Object.values(FORMATS).map(({ name, hint, settings }) => {
      const names = Object.keys((settings as TObject).properties).map((one) => `\`${one}\``);
      return `| \`${name}\` | ${hint} | ${names.join(", ")} |`;
    });
    const head = "| format | where its URL is found | settings |\n|---|---|---|\n";
    expect(README).toContain(`${head}${rows.join("\n")}\n\n`);
    for (const type of Object.keys(EVENTS)) expect(README).toContain(`\`${type}\``);
  });

  test("its programs that verify are those that the dashboard shows, whose example is right", () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const shell = shellSnippet(secret, Date.UTC(2026, 0, 1, 12));
    expect(README).toContain(`\`\`\`sh\n${shell}\n\`\`\``);
    expect(README).toContain(`\`\`\`js\n${javaScriptSnippet(secret)}\n\`\`\``);
  });

  test("its waits between tries are those that a delivery has", () => {
    const units = [
      { ms: HOUR_MS, name: "h" },
      { ms: MINUTE_MS, name: "min" },
      { ms: SECOND_MS, name: "s" },
    ];
    const waits = RETRY_DELAYS_MS.map((wait) => {
      const unit = units.find(({ ms }) => wait >= ms);
      return unit && `${wait / unit.ms} ${unit.name}`;
    });
    expect(README).toContain(`${waits.slice(0, -1).join(", ")} and ${waits.at(-1)}`);
  });

  test("its file with monitors and webhooks is one that apply takes", () => {
    const [, file = ""] = /```yaml\n([\s\S]*?)```/.exec(README) ?? [];
    const { content } = readApplyFile(file, {
      API_TOKEN: "secret",
      SLACK_URL: "https://hooks.slack.com/services/T0/B0/x",
      WEBHOOK_SECRET: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    });
    expect(content.pages[0]?.components?.[0]?.monitors).toHaveLength(1);
    expect(content.monitors).toHaveLength(1);
    expect(content.webhooks).toHaveLength(2);
  });

  test("it opens with the two commands", () => {
    const opening = README.slice(0, README.indexOf("## "));
    expect(opening).toContain("npx -y bun@1.4.5 start ");
    expect(opening).toContain("npx -y bun@1.4.5 run test ");
  });
});
