import { describe, expect, test } from "bun:test";
import { exportFile } from "../../../src/features/apply/apply";
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
      { ref: "shop", depends_on: ["router", "power"] },
      { ref: "router", depends_on: ["power"] },
      { ref: "power" },
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
    ["a cycle of new monitors", ["a <- b", "b <- a"], "depends on the monitor itself: a"],
    ["itself", ["a <- a"], "depends on the monitor itself: a"],
    [
      "more than five dependencies that follow each other",
      ["a", "b <- a", "c <- b", "d <- c", "e <- d", "f <- e", "g <- f"],
      "[0] makes more than 5 dependencies follow each other: g → f → e → d → c → b → a",
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
    const text = file("a <- b", "b <- a");
    expect(await applyError(app, text)).toBe(
      `line ${lineOf(text, "name: a,")}: depends_on[0] leads back to the monitor itself: a → b → a`,
    );
    expect(await parentsOf(app)).toEqual({ a: [], b: ["a"] });
  });

  test("a file that lengthens the chain of a monitor outside it is rejected at the line that does so", async () => {
    await using app = await createTestApp();
    await apply(app, file("leaf <- b", "b", "c", "d <- e", "e <- f", "f <- g", "g"));
    const before = await parentsOf(app);
    const text = file("c <- d", "x", "b <- x c");
    expect(await applyError(app, text)).toBe(
      `line ${lineOf(text, "name: b,")}: depends_on[1] makes more than 5 dependencies follow each other: leaf → b → c → d → e → f → g`,
    );
    expect(await parentsOf(app)).toEqual(before);
    await apply(app, file("c <- d", "x", "b <- x"));
    expect(await parentsOf(app)).toMatchObject({ leaf: ["b"], b: ["x"], c: ["d"] });
  });

  test("a file that closes a cycle through monitors outside it is rejected at the line that does so", async () => {
    await using app = await createTestApp();
    await apply(app, file("a <- b", "b <- c", "c"));
    const text = file("x", "c <- x a");
    expect(await applyError(app, text)).toContain(
      `line ${lineOf(text, "name: c,")}: depends_on[1] leads back to the monitor itself: `,
    );
    expect(await parentsOf(app)).toEqual({ a: ["b"], b: ["c"], c: [] });
  });

  test("a pruned monitor is named by its ref in the changes of those that depended on it", async () => {
    await using app = await createTestApp();
    await apply(app, file("shop <- router", "router"));
    expect(linesOf(await apply(app, file("shop"), true))).toEqual([
      "- monitor router",
      '~ monitor shop: depends_on ["router"] → []',
    ]);
  });

  test("pruning a monitor names the monitors and webhooks outside the file that lose it", async () => {
    await using app = await createTestApp();
    await apply(app, file("router", "power"));
    const [router, power] = await readMonitors(app);
    const key = await app.keyWith("manage:monitors", "manage:webhooks");
    const body = { type: "tcp", name: "Shop", config: { host: "a.test", port: 80 } };
    await app.call("/api/v1/monitors", {
      method: "POST",
      key,
      json: { ...body, depends_on: [power.id, router.id] },
    });
    await app.call("/api/v1/webhooks", {
      method: "POST",
      key,
      json: { url: "https://a.example/x", description: "Chat", monitors: [router.id] },
    });
    const outcome = await apply(app, file("power"), true);
    expect(linesOf(outcome)).toEqual([
      "- monitor router",
      '~ monitor shop: depends_on ["power","router"] → ["power"]',
      '~ webhook chat: monitors ["router"] → []',
    ]);
    expect(await parentsOf(app)).toEqual({ power: [], shop: ["power"] });
  });

  test("a webhook in the file that loses a pruned monitor is listed once, from its monitors before", async () => {
    await using app = await createTestApp();
    const webhook = (monitors: string) => `webhooks:
  - { ref: chat, url: "https://a.example/x", monitors: ${monitors}, secret: "\${SECRET}" }
`;
    const env = { SECRET: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" };
    await apply(app, `${file("router", "power")}${webhook("[router, power]")}`, true, env);
    expect(linesOf(await apply(app, `${file("power")}${webhook("[power]")}`, true, env))).toEqual([
      "- monitor router",
      '~ webhook chat: monitors ["router","power"] → ["power"]',
    ]);
    const updates = app.audit().filter(({ action }) => action === "webhook.update");
    expect(updates).toHaveLength(1);
    const all = `${file("last")}${webhook('["*"]')}`;
    expect(linesOf(await apply(app, all, true, env))).toEqual([
      "- monitor power",
      "+ monitor last",
      '~ webhook chat: monitors ["power"] → ["*"]',
    ]);
    expect(linesOf(await apply(app, all, true, env))).toEqual([]);
    expect(linesOf(await apply(app, "pages: []", true))).toEqual([
      "- monitor last",
      "- webhook chat",
    ]);
  });

  test("a dependency on an earlier ref is rejected wherever the monitor stands in the file", async () => {
    await using app = await createTestApp();
    await apply(app, file("shop <- router", "router"));
    const renamed = "router, ref: edge, previous_refs: [router]";
    for (const monitors of [
      ["shop <- router", renamed],
      [renamed, "shop <- router"],
    ]) {
      expect(await applyError(app, file(...monitors))).toContain(
        "depends_on[0] is an earlier ref of edge: router",
      );
    }
    expect(linesOf(await apply(app, file("shop <- edge", renamed)))).toEqual([
      '~ monitor router: ref "router" → "edge"',
    ]);
    expect(await parentsOf(app)).toEqual({ edge: [], shop: ["edge"] });
    expect(linesOf(await apply(app, file("shop <- edge", renamed)))).toEqual([]);
  });

  test("monitors keep the order of the file in an export, whatever they depend on", async () => {
    await using app = await createTestApp();
    await apply(app, file("a <- c", "b <- d", "c", "d <- c"));
    const exported = await app.ctx.db.write((tx) => exportFile(tx));
    expect(exported.monitors?.map(({ ref }) => ref)).toEqual(["a", "b", "c", "d"]);
  });
});
