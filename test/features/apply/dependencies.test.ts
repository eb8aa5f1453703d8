import { describe, expect, test } from "bun:test";
import { exportFile } from "../../../src/features/apply";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, applyError, lineOf, linesOf } from "../../support/apply";
import { readMonitors } from "../../support/monitors-file";

/** A file with a monitor on each line, `name` or `name <- parent parent`. */
const file = (...monitors: string[]) => `pages: []
monitors:
${monitors
  .map((line) => {
    const [name = "", parents] = line.split(" <- ");
    const depends = parents === undefined ? "" : `, depends_on: [${parents.split(" ").join(", ")}]`;
    return `  - { name: ${name}, type: tcp, config: { host: a.test, port: 80 }${depends} }`;
  })
  .join("\n")}
`;

/** The refs that each monitor depends on, by ref. */
async function parentsOf(app: TestApp): Promise<Record<string, string[]>> {
  const monitors: { id: string; ref: string; depends_on: string[] }[] = await readMonitors(app);
  const refs = new Map(monitors.map(({ id, ref }) => [id, ref]));
  return Object.fromEntries(
    monitors.map(({ ref, depends_on }) => [ref, depends_on.map((id) => refs.get(id) ?? id)]),
  );
}

describe("dependencies of monitors in a file", () => {
  test("a monitor may depend on monitors that follow it in the file, and applying twice changes nothing", async () => {
    await using app = await createTestApp();
    const whole = file("shop <- router power", "router <- power", "power");
    await apply(app, whole);
    expect(await parentsOf(app)).toEqual({
      shop: ["router", "power"],
      router: ["power"],
      power: [],
    });
    const audited = app.audit().length;
    expect(linesOf(await apply(app, whole, true))).toEqual([]);
    expect(app.audit()).toHaveLength(audited);
    const exported = await app.ctx.db.write((tx) => exportFile(tx));
    expect(exported.monitors).toMatchObject([
      { ref: "power" },
      { ref: "router", depends_on: ["power"] },
      { ref: "shop", depends_on: ["router", "power"] },
    ]);
  });

  test("dependencies can be turned round in one apply", async () => {
    await using app = await createTestApp();
    await apply(app, file("a <- b", "b <- c", "c"));
    const outcome = await apply(app, file("a", "b <- a", "c <- b"));
    expect(linesOf(outcome)).toEqual([
      '~ monitor a: depends_on ["b"] → []',
      '~ monitor b: depends_on ["c"] → ["a"]',
      '~ monitor c: depends_on [] → ["b"]',
    ]);
    expect(await parentsOf(app)).toEqual({ a: [], b: ["a"], c: ["b"] });
  });

  test("a file without dependencies removes them, and pruning a monitor removes those on it", async () => {
    await using app = await createTestApp();
    await apply(app, file("shop <- router", "router"));
    await apply(app, file("shop"), true);
    expect(await parentsOf(app)).toEqual({ shop: [] });
  });

  test("a monitor may depend on one that the file does not describe", async () => {
    await using app = await createTestApp();
    await apply(app, file("router"));
    await apply(app, file("shop <- router"));
    expect(await parentsOf(app)).toEqual({ router: [], shop: ["router"] });
  });

  test.each([
    ["an unknown ref", ["shop <- nothing"], "is not the ref of a monitor"],
    ["a cycle of new monitors", ["a <- b", "b <- a"], "depends on this one: a"],
    ["itself", ["a <- a"], "depends on this one: a"],
    [
      "more than five dependencies that follow each other",
      ["a", "b <- a", "c <- b", "d <- c", "e <- d", "f <- e", "g <- f"],
      "makes more than 5 dependencies follow each other",
    ],
  ])("%s is rejected with its line, and nothing is changed", async (_, monitors, detail) => {
    await using app = await createTestApp();
    const text = file(...monitors);
    const message = await applyError(app, text);
    expect(message).toContain(detail);
    const last = monitors.findLast((line) => line.includes("<-")) ?? "";
    expect(message).toContain(`${lineOf(text, `name: ${last.split(" ")[0]},`)}`);
    expect(await readMonitors(app)).toEqual([]);
  });

  test("a cycle of stored monitors is rejected with its line, and nothing is changed", async () => {
    await using app = await createTestApp();
    await apply(app, file("a", "b <- a"));
    const message = await applyError(app, file("a <- b", "b <- a"));
    expect(message).toContain("depends_on leads back to the monitor itself");
    expect(await parentsOf(app)).toEqual({ a: [], b: ["a"] });
  });
});
