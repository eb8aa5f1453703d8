import { describe, expect, test } from "bun:test";
import { Problem } from "../../../src/base/errors";
import { getPage } from "../../../src/features/pages/pages";
import { readImportFile } from "../../../src/features/subscribers/transfer";
import { createTestApp, type TestApp } from "../../support/app";

const COLUMNS = "email,components,groups,events";

/** Returns a function that reads a text as the file of a page with the components API and Web, in Core. */
async function createReader(app: TestApp) {
  const { page, components } = await app.page({ slug: "acme", name: "Acme" }, ["API", "Web"]);
  const read = (text: string | Uint8Array, { badLinesMax = 100, pieces = 7 } = {}) => {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.byteLength; at += pieces)
      chunks.push(bytes.subarray(at, at + pieces));
    const options = { badLinesMax, allowUtf8Local: false };
    return readImportFile(app.ctx.db, getPage(app.ctx.db, page.id), chunks, options);
  };
  return { components, read };
}

async function failureOf(reading: Promise<unknown>): Promise<unknown> {
  const error = await reading.catch((thrown: unknown) => thrown);
  if (!(error instanceof Problem)) throw new Error(`no problem: ${String(error)}`);
  expect(error.code).toBe("validation_failed");
  return error.fields.map(({ pointer, detail }) => `${pointer} ${detail}`);
}

describe("a file with subscribers", () => {
  test("has columns in any order, any line ends, quoted and guarded cells, and a byte order mark", async () => {
    await using app = await createTestApp();
    const { components, read } = await createReader(app);
    const { rows, badLines } = await read(
      '\ufeff"Events",email,components\r\n,Ann@Example.COM,\nstatus; incidents,"\'+bob@example.com",api;acme/web\r\r"main\ntenance",x@example.com,\nmaintenance,"cy@exämple.com",acme:api',
    );
    expect(badLines).toEqual([
      { line: 6, detail: "events: main\ntenance is none of incidents, maintenance, status" },
    ]);
    expect(
      rows.map(({ line, address, choices }) => ({ line, to: address.address, ...choices })),
    ).toEqual([
      {
        line: 2,
        to: "Ann@example.com",
        scope: "page",
        targets: [],
        events: ["incidents", "maintenance"],
      },
      {
        line: 3,
        to: "+bob@example.com",
        scope: "selection",
        targets: [components["API"] ?? "", components["Web"] ?? ""],
        events: ["incidents", "status"],
      },
      {
        line: 7,
        to: "cy@xn--exmple-cua.com",
        scope: "selection",
        targets: [components["API"] ?? ""],
        events: ["maintenance"],
      },
    ]);
  });

  test("lists every bad line with its reason, without the address", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "other" }, ["API"]);
    const { read } = await createReader(app);
    const text = [
      "email,components,groups,events,page,scope",
      "ann@example.com",
      "not an address",
      "ANN@example.com",
      "bob@example.com,none",
      "bob@example.com,other/api",
      "bob@example.com,,none",
      "bob@example.com,,,all",
      "bob@example.com,,,,other",
      "bob@example.com,;",
      "bob@example.com,,,,acme,selection",
      "bob@example.com,,,,acme,page,more",
      "müller@example.com",
      "bob@example.com,,,,acme,page",
    ].join("\n");
    const { rows, badLines, badCount } = await read(text);
    expect(rows.map(({ line }) => line)).toEqual([2, 14]);
    expect(badCount).toBe(11);
    expect(badLines.map(({ line, detail }) => `${line}: ${detail}`)).toEqual([
      "3: email must be an e-mail address, such as name@example.com",
      "4: has the same address as line 2",
      "5: components: there is no none",
      "6: components: there is no other/api",
      "7: groups: there is no none",
      "8: events: all is none of incidents, maintenance, status",
      "9: belongs to the page other",
      "10: components and groups name nothing",
      "11: components and groups name nothing",
      "12: has more cells than the first line",
      "13: email must have only ASCII characters before the @",
    ]);
    expect((await read(text, { badLinesMax: 2 })).badLines).toHaveLength(2);
  });

  const utf16 = (text: string, isBig = false) => {
    const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
    return isBig ? bytes.swap16() : bytes;
  };

  test.each<[what: string, file: string | Uint8Array]>([
    ["commas", "email,components,note\nann@example.com,api,x\nbob@example.com,,\n"],
    [
      "semicolons",
      'email;components;note\r\nann@example.com;"api";"x, y"\r\nbob@example.com;;\r\n',
    ],
    ["tabs", "email\tcomponents\tnote\nann@example.com\tapi\tx\nbob@example.com\t\t\n"],
    [
      "a declared separator",
      "sep=;\r\nemail;components\r\nann@example.com;api\r\nbob@example.com;\r\n",
    ],
    ["empty lines first", "\r\n\n\nemail;components\nann@example.com;api\nbob@example.com;\n"],
    ["a byte order mark", "\ufeffemail;components\nann@example.com;api\nbob@example.com\n"],
    [
      "UTF-16 in little-endian order",
      utf16("email\tcomponents\r\nann@example.com\tapi\r\nbob@example.com\t\r\n"),
    ],
    [
      "UTF-16 in big-endian order",
      utf16("email;components\nann@example.com;api\nbob@example.com;\n", true),
    ],
    [
      "columns without names",
      "email;;components;;\nann@example.com;1;api;;;\nbob@example.com;;;;\n",
    ],
    [
      "further columns first",
      "First name,Last name,EMAIL,Components\nAnn,A,ann@example.com,api\nBob,B,bob@example.com,\n",
    ],
  ])("with %s is read, in pieces of any size", async (_what, file) => {
    await using app = await createTestApp();
    const { page } = await app.page({}, ["API"]);
    const bytes = typeof file === "string" ? Buffer.from(file) : file;
    for (const size of [1, 3, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const options = { badLinesMax: 10, allowUtf8Local: false };
      const { rows, badLines } = await readImportFile(app.ctx.db, page, pieces, options);
      expect(badLines).toEqual([]);
      expect(rows.map(({ address, choices }) => [address.address, choices.scope])).toEqual([
        ["ann@example.com", "selection"],
        ["bob@example.com", "page"],
      ]);
    }
  });

  test.each([
    ["without a line", "", "is empty"],
    ["without names of columns", "ann@example.com\n", `must name the columns: ${COLUMNS}`],
    ["of suppressed addresses", "email,page,reason,since\n", "is a list of suppressed addresses"],
    [
      "of suppressed addresses, saved by Excel",
      "email;page;reason;since\n",
      "is a list of suppressed",
    ],
    ["with a column twice", "email,email\n", "the column email appears twice"],
    ["with an open quote", 'email\n"bob@example.com\n', "the last quote is not closed"],
    [
      "with a misplaced quote",
      'email\nann"x"@example.com\n',
      "line 2: a quote is at a wrong place",
    ],
    ["with a very long line", `email\n"${"a".repeat(70_000)}`, "line 2: the line is too long"],
    [
      "in Latin-1",
      Buffer.from("email\nf\xfcr@example.com", "latin1"),
      "is neither UTF-8 nor UTF-16",
    ],
    ["with half a character of UTF-16", Buffer.from([0xff, 0xfe, 0x65]), "is neither UTF-8 nor"],
  ] as const)("%s is rejected as a whole", async (_, text, reason) => {
    await using app = await createTestApp();
    const { read } = await createReader(app);
    const [failure] = (await failureOf(read(text, { pieces: 5_000 }))) as string[];
    expect(failure).toStartWith("#/file ");
    expect(failure).toContain(reason);
  });

  test("lets other work run while it is read", async () => {
    await using app = await createTestApp();
    const { read } = await createReader(app);
    let turns = 0;
    const count = setInterval(() => (turns += 1), 1);
    await read("email\n" + "a\n".repeat(50_000), { pieces: 100_000 });
    clearInterval(count);
    expect(turns).toBeGreaterThan(5);
  });
});
