import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readHealthchecks } from "../../src/imports/healthchecks/read";
import { checkItems, checkOf, createImportSite, UUIDS } from "../support/import-site";
import { temporaryFolder } from "../support/temporary-folder";

const [FIRST] = UUIDS;

/** UUID with a number in it. */
const uuidOf = (index: number) =>
  `${index.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;

/** Reads a file with the given text. */
async function readText(text: string) {
  using folder = temporaryFolder();
  const file = join(folder.path, "checks.json");
  await Bun.write(file, text);
  return await readHealthchecks(file, { pingKey: undefined });
}

describe("an answer from a hostile server", () => {
  test("with a depth of 90 is imported without what is deep", async () => {
    const deep = `${'{"a":'.repeat(90)}1${"}".repeat(90)}`;
    const check = JSON.stringify(checkOf(FIRST)).replace("{", `{"deep": ${deep},`);
    const found = await readText(`{"checks": [${check}]}`);
    expect(found.monitors).toHaveLength(1);
    expect(found.notRead).toEqual(["checks[].deep"]);
  });

  test.each([1_000, 1_000_000])("with a depth of %d is refused", async (depth) => {
    const deep = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    await expect(readText(`{"checks": [], "deep": ${deep}}`)).rejects.toThrow(
      "nested deeper than 100 levels",
    );
  });

  test("with brackets, commas and quotes in texts is read", async () => {
    const name = `${"[{,".repeat(200)}\\"\\\\`;
    const found = await readText(JSON.stringify({ checks: [checkOf(FIRST, { desc: name })] }));
    expect(found.monitors[0]?.body).toMatchObject({ notes: name });
  });

  test("with 100,000 checks is refused", async () => {
    const checks = Array.from({ length: 100_000 }, (_, index) => ({ name: `${index}` }));
    await expect(readText(JSON.stringify({ checks }))).rejects.toThrow("100,000 checks; 5,000 is");
  });

  test("that is larger than 64 MiB is refused", async () => {
    await expect(readText(" ".repeat(64 * 1024 * 1024 + 1))).rejects.toThrow("larger than 64 MiB");
  });

  test("that never ends is refused", async () => {
    const endless = readHealthchecks("/dev/zero", { pingKey: undefined });
    await expect(endless).rejects.toThrow("/dev/zero");
  });

  test("with huge texts is cut, in short time and in a short report", async () => {
    const huge = "\u0301x ".repeat(1_000_000);
    await using site = await createImportSite();
    const fields = { name: huge, desc: huge, tags: huge, slug: huge, schedule: huge, tz: huge };
    const others = { methods: huge, channels: huge, timeout: undefined, [huge]: 1 };
    const report = await site.import([checkOf(FIRST, { ...fields, ...others })], { pingKey: "k" });
    const [monitor] = site.monitors();
    expect(checkItems(report)[0]?.verdict).toBe("disabled");
    expect([...(monitor?.name ?? "")]).toHaveLength(255);
    expect([...(monitor?.notes ?? "")]).toHaveLength(1_000);
    expect(JSON.stringify(report).length).toBeLessThan(10_000);
  });

  test("with control characters and halves of characters is cleaned, and says so", async () => {
    await using site = await createImportSite();
    const text = "a\0b\u001b[31m\u202ec\ud800d\ne";
    const report = await site.import([checkOf(FIRST, { name: text, desc: text, tags: text })]);
    const [monitor] = site.monitors();
    expect(monitor?.name).toBe("ab[31mc\ufffdde");
    expect(monitor?.notes).toBe("ab\u001b[31m\u202ec\ufffdd\ne");
    expect(monitor?.tags).toEqual(["ab[31mc\ufffdd", "e"]);
    expect(checkItems(report)[0]?.changes.map(({ field }) => field)).toEqual([
      "name",
      "tags",
      "desc",
    ]);
    // oxlint-disable-next-line no-control-regex
    expect(JSON.stringify(report)).not.toMatch(/\\u0000|\\u001b|\u202e/);
  });

  test("with names of control characters alone gets other names", async () => {
    await using site = await createImportSite();
    await site.import([checkOf(FIRST, { name: "\0\u202e", tags: "\0" })]);
    expect(site.monitors()[0]).toMatchObject({ name: "Unnamed check", tags: ["tag"] });
  });

  test("with thousands of equal names gives each monitor a ref of its own", async () => {
    await using site = await createImportSite();
    const checks = Array.from({ length: 2_000 }, (_, index) =>
      checkOf(uuidOf(index), { name: "Job", slug: "" }),
    );
    const report = await site.import(checks);
    expect(report.counts).toEqual({ created: 2_001 });
    expect(new Set(site.monitors().map(({ ref }) => ref)).size).toBe(2_000);
    expect((await site.import(checks)).counts).toEqual({ unchanged: 2_000 });
  });

  test("with names of our own objects changes none of those", async () => {
    await using site = await createImportSite();
    const key = await site.app.keyWith("manage:monitors");
    const json = { type: "push", name: "Nightly backup", notes: "Ours" };
    await site.app.call("/api/v1/monitors", { method: "POST", key, json });
    await site.import([checkOf(FIRST)]);
    expect(site.monitors().map(({ ref, notes }) => [ref, notes])).toEqual([
      ["nightly-backup", "Ours"],
      ["nightly-backup-2", "Copies everything"],
    ]);
  });

  test.each([
    ["null", null],
    ["a number", 1],
    ["a text", "check"],
    ["a list", []],
  ])("with %s in place of a check does not move it", async (_name, entry) => {
    await using site = await createImportSite();
    const report = await site.import([entry, checkOf(FIRST)]);
    expect(report.counts).toEqual({ created: 2, not_moved: 1 });
  });

  test.each([
    ["an empty object", {}],
    ["another answer", { checks: [] }],
  ])("with %s in place of a check switches it off, without an address", async (_name, entry) => {
    await using site = await createImportSite();
    const report = await site.import([entry, checkOf(FIRST)]);
    expect(report.counts).toEqual({ created: 2, disabled: 1 });
    expect(site.monitors().map(({ paused }) => paused)).toEqual([true, false]);
  });

  test("with fields of JavaScript objects reads none of them", async () => {
    const check = JSON.stringify(checkOf(FIRST)).replace(
      "{",
      '{"__proto__": {"unique_key": "x", "schedule": "* * * * *"}, "constructor": 1, "toString": 1,',
    );
    const found = await readText(`{"checks": [${check}]}`);
    expect(found.monitors[0]?.body).toMatchObject({ interval_seconds: 3600 });
    expect(found.notRead).toEqual([
      "checks[].__proto__",
      "checks[].constructor",
      "checks[].toString",
    ]);
  });

  test("with thousands of unknown fields names some and counts the others", async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]),
    );
    const found = await readText(JSON.stringify({ checks: [checkOf(FIRST, fields)] }));
    expect(found.notRead).toHaveLength(21);
    expect(found.notRead.at(-1)).toBe("4980 more fields");
  });

  test("cannot put markup or secrets of the address into the instructions", async () => {
    const ping_url = `https://user:hunter2@<b>.test/x/${FIRST}`;
    const found = await readText(JSON.stringify({ checks: [checkOf(FIRST, { ping_url })] }));
    expect(found.toDo.join()).not.toContain("hunter2");
  });
});
