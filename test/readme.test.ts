import { describe, expect, test } from "bun:test";
import { OPTIONS } from "../src/config";
import { readApplyFile } from "../src/features/apply";
import { SCOPES } from "../src/features/keys";
import { ROLE_SENTENCES, ROLES } from "../src/kernel/role";

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

  test("its file with monitors is one that apply takes", () => {
    const [, file = ""] = /```yaml\n([\s\S]*?)```/.exec(README) ?? [];
    const { content } = readApplyFile(file, { API_TOKEN: "secret" });
    expect(content.pages[0]?.components?.[0]?.monitors).toHaveLength(1);
    expect(content.monitors).toHaveLength(1);
  });

  test("it opens with the two commands", () => {
    const opening = README.slice(0, README.indexOf("## "));
    expect(opening).toContain("npx -y bun@1.4.5 start ");
    expect(opening).toContain("npx -y bun@1.4.5 run test ");
  });
});
