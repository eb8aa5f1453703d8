import { describe, expect, test } from "bun:test";
import { readApplyFile } from "../../src/features/apply/read";
import { writeApplyFile } from "../../src/features/apply/apply";
import { renderingWork, renderMarkdown } from "../../src/base/markdown";
import { cutName } from "../../src/imports/kit";
import type { Maintenance } from "../../src/features/maintenance/wire";
import type { Page } from "../../src/features/pages/wire";
import { clean, cleanLine } from "../../src/features/webhooks/formats/markup";
import { headerText } from "../../src/features/mail/compose";
import { printTable } from "../../src/cli/print";
import { toCsvLine } from "../../src/base/csv";
import { lineOptions } from "../../src/base/log";
import { hasUnsafeCharacters, oneLine } from "../../src/base/text";
import { writeCalendar } from "../../src/public/feeds";
import { expectProblem } from "../support/app";
import { readHtml } from "../support/html";
import { createPublicSite } from "../support/public-site";

/** Characters at which some readers end a line, besides CR and LF. */
const SEPARATORS: readonly [name: string, character: string][] = [
  ["NEXT LINE", "\u0085"],
  ["LINE SEPARATOR", "\u2028"],
  ["PARAGRAPH SEPARATOR", "\u2029"],
];

/** Ends of lines as Unicode and most libraries know them. */
// oxlint-disable-next-line no-control-regex
const LINE_END = /\r\n|[\n\v\f\r\u001c-\u001e\u0085\u2028\u2029]/;

describe.each(SEPARATORS)("the separator %s", (_, separator) => {
  const name = `Outage${separator}BEGIN:VEVENT`;

  test("is refused in every name that the API takes, and nothing is written", async () => {
    await using site = await createPublicSite();
    const { app, key } = site;
    const sent = { page: "acme", name, body: "Text." };
    const plan = {
      scheduled_for: "2026-03-11T00:00:00Z",
      scheduled_until: "2026-03-11T01:00:00Z",
      components: [],
    };
    for (const [path, json] of [
      ["/incidents", sent],
      ["/maintenance", { ...sent, ...plan }],
    ] as const) {
      const answer = await app.call(`/api/v1${path}`, { method: "POST", key, json });
      const { errors } = expectProblem(answer, "validation_failed");
      expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(["#/name"]);
    }
    expect(app.events()).toEqual([]);
  });

  test("is refused in the names of a configuration file, and left out of those of an import", () => {
    const file = `pages:\n  - slug: acme\n    name: "Acme${JSON.stringify(separator).slice(1, -1)}"\n`;
    expect(() => readApplyFile(file)).toThrow(/separators of lines|control characters/);
    expect(hasUnsafeCharacters(cutName(name, "Unnamed"))).toBe(false);
  });

  test("is escaped in the texts of an export, and a space in the names that earlier versions stored", () => {
    const description = `One${separator}two\nthree \\ "four"`;
    const file = {
      pages: [
        {
          slug: "acme",
          name: `Acme${separator}status`,
          description,
          components: [{ name: `${separator}API`, tags: [`a${separator}b`] }],
        },
      ],
    };
    const yaml = writeApplyFile(file, [`Not included: a${separator}b`]);
    expect(yaml.replaceAll("\n", "")).not.toMatch(LINE_END);
    const [page] = readApplyFile(yaml).content.pages;
    expect(page).toEqual({
      slug: "acme",
      name: "Acme status",
      description,
      components: [{ name: " API", tags: ["a b"] }],
    });
  });

  test("ends no row of a table that a command prints", () => {
    const lines: string[] = [];
    const output = { out: (line: string) => void lines.push(line), err: () => undefined };
    printTable(output, ["NAME", "ROLE"], [[`a${separator}b\u001b[2J`, "owner"]]);
    expect(lines).toEqual(["NAME     ROLE", "a b [2J  owner"]);
  });

  test("is a line break in the texts of a page, as a line feed is", async () => {
    await using site = await createPublicSite();
    const { id } = await site.open({ body: `One${separator}two${separator}${separator}three` });
    const { text } = await site.app.call(`/status/acme/incidents/${id}`);
    expect(text).not.toContain(separator);
    expect(readHtml(text).texts(".markdown p, .text p, .update p").join("|")).toContain("three");
    expect(renderMarkdown(`One${separator}two`)).toBe(renderMarkdown("One\ntwo"));
    expect(renderMarkdown(`- a${separator}- b`)).toBe(renderMarkdown("- a\n- b"));
    expect(renderingWork(`a${separator}b`)).toBe(renderingWork("a\nb"));
  });

  test("adds no line and no property to a calendar, not even in a name of an earlier version", async () => {
    await using site = await createPublicSite();
    const maintenance: Maintenance = await site.plan(
      "2026-03-11T00:00:00Z",
      "2026-03-11T01:00:00Z",
      { body: `One${separator}ATTENDEE:mailto:x@example.com${separator}${"ü".repeat(100)}` },
    );
    const { page } = (await site.document()) as { page: Page };
    const shown = { document: { page: { ...page, name: `Acme${separator}X-EVIL:1` } } };
    const calendar = writeCalendar(shown, [{ ...maintenance, name }]);
    const lines = calendar.split(LINE_END);
    expect(lines.filter((line) => line !== "" && !/^(?: |[A-Z-]+[:;])/.test(line))).toEqual([]);
    expect(lines.filter((line) => /^(?:ATTENDEE|X-EVIL)/.test(line))).toEqual([]);
    expect(lines.filter((line) => line === "BEGIN:VEVENT")).toHaveLength(1);
    for (const line of calendar.split("\r\n")) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    }
    expect(calendar.replaceAll("\r\n ", "")).toContain("One\\nATTENDEE:mailto:x@example.com\\nü");
    expect(calendar).toContain("SUMMARY:Outage BEGIN:VEVENT\r\n");
  });

  test("ends no line of a header, a message, a table, a log or a report", () => {
    const line = `a${separator}b`;
    expect(clean(line)).toBe("a\nb");
    for (const written of [headerText(line), cleanLine(line), oneLine(line)]) {
      expect(written).toBe("a b");
    }
    expect(toCsvLine([line])).toBe(`"${line}"\r\n`);
    const logged = lineOptions((text) => text).hooks.streamWrite(JSON.stringify({ msg: line }));
    expect(logged.split(LINE_END)).toHaveLength(1);
    expect(JSON.parse(logged)).toEqual({ msg: line });
  });
});
