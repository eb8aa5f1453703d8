import { describe, expect, test } from "bun:test";
import { rotateKey } from "../../../src/features/keys/keys";
import { type Actor, CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import { listEveryKey } from "../../support/key-pages";
import { createKey } from "../../support/examined";

function search(app: TestApp, text: string): string[] {
  const now = app.clock.now();
  const found = listEveryKey(app.ctx.db, { search: text, filter: "all", limit: 3, now });
  return found.map((key) => key.name).sort();
}

async function appWith(...names: string[]): Promise<TestApp> {
  const app = await createTestApp();
  for (const name of names) await app.createKey({ name });
  return app;
}

describe("searching keys by name", () => {
  test.each([
    ["bot", ["Deploy BOT", "bot", "robots"]],
    ["BOT", ["Deploy BOT", "bot", "robots"]],
    ["  deploy b ", ["Deploy BOT"]],
    ["zebra", []],
  ])("a search of names for %p finds %p", async (text, found) => {
    await using app = await appWith("Deploy BOT", "bot", "robots", "Grafana");
    expect(search(app, text)).toEqual(found);
  });

  test.each([
    ["%", ["100% up"]],
    ["_", ["ci_bot"]],
    ["i_b", ["ci_bot"]],
    ["\\", ["back\\slash"]],
    ["\\%", []],
    ["'", ["it's"]],
    ['"', ['the "main" one']],
    ["'; DROP TABLE api_keys; --", []],
    ["🚀", ["🚀 launch"]],
    ["🚀 LAUNCH", ["🚀 launch"]],
    ["Ünder", ["Ünder"]],
    ["*", []],
    ["?", []],
    ["[a-z]", []],
  ])("a search of names takes %p literally", async (text, found) => {
    const names = ["100% up", "ci_bot", "cibot", "back\\slash", "it's", 'the "main" one'];
    await using app = await appWith(...names, "🚀 launch", "Ünder");
    expect(search(app, text)).toEqual(found);
    expect(search(app, "")).toHaveLength(8);
  });

  test("a search for an empty or blank text finds every key", async () => {
    await using app = await appWith("a", "b", "c", "d");
    expect(search(app, "")).toEqual(["a", "b", "c", "d"]);
    expect(search(app, " \t\n")).toEqual(["a", "b", "c", "d"]);
  });

  test("a search for a too long text or NUL finds nothing", async () => {
    await using app = await appWith("x".repeat(255));
    expect(search(app, "x".repeat(255))).toHaveLength(1);
    expect(search(app, "x".repeat(256))).toEqual([]);
    expect(search(app, "x".repeat(200_000))).toEqual([]);
    expect(search(app, "%".repeat(200_000))).toEqual([]);
    expect(search(app, "x\0")).toEqual([]);
    expect(search(app, "\0")).toEqual([]);
    expect(search(app, "\ud83d")).toEqual([]);
  });
});

describe("searching keys by other properties", () => {
  test("a search finds keys by a part of their creator's label", async () => {
    await using app = await appWith("from the command line");
    const ada: Actor = { kind: "user", id: "usr_1", label: "Ada_Lovelace" };
    const body = { name: "hers", scopes: ["read:status" as const] };
    await app.ctx.db.write((tx) => createKey(app.ctx, tx, body, ada));
    expect(search(app, "ada_love")).toEqual(["hers"]);
    expect(search(app, "adaxlove")).toEqual([]);
  });

  test("a search finds a key by its complete id only", async () => {
    await using app = await appWith("one", "two");
    const { key } = await app.createKey({ name: "three" });
    expect(search(app, key.id)).toEqual(["three"]);
    expect(search(app, key.id.toUpperCase())).toEqual(["three"]);
    expect(search(app, key.id.slice(0, -1))).toEqual([]);
    expect(search(app, "key_")).toEqual([]);
  });

  test("a search finds keys by the exact name of a scope", async () => {
    await using app = await createTestApp();
    await app.createKey({ name: "both", scopes: ["read:status", "write:incidents"] });
    await app.createKey({ name: "one", scopes: ["write:components"] });
    expect(search(app, "write:incidents")).toEqual(["both"]);
    expect(search(app, "Read:Status")).toEqual(["both"]);
    expect(search(app, "write:")).toEqual([]);
    expect(search(app, '"write:components"')).toEqual([]);
  });
});

describe("searching keys by a value", () => {
  test("a search finds a key by the start of its value", async () => {
    await using app = await appWith("another");
    const { key } = await app.createKey({ name: "wanted" });
    expect(search(app, key.start)).toContain("wanted");
    expect(search(app, `${key.start}…`)).toContain("wanted");
    expect(search(app, key.start.slice(0, 10))).toContain("wanted");
    expect(search(app, "allclear_")).toEqual(["another", "wanted"]);
    expect(search(app, "allclear_%")).toEqual([]);
    // The part that all values share finds nothing.
    expect(search(app, "all")).toEqual([]);
  });

  test("a search for a complete value compares its first 13 characters only", async () => {
    await using app = await createTestApp({ logLevel: "trace" });
    const { key, value } = await app.createKey({ name: "wanted" });
    const sameStart = key.start + "0".repeat(45);
    const otherStart = (value[12] === "0" ? "1" : "0") + "0".repeat(45);
    expect(search(app, value)).toEqual(["wanted"]);
    expect(search(app, ` Bearer ${value}\n`)).toEqual(["wanted"]);
    expect(search(app, sameStart)).toEqual(["wanted"]);
    expect(search(app, value.slice(0, 12) + otherStart)).toEqual([]);
    expect(JSON.stringify(app.logged)).not.toContain(value);
  });

  test("a search finds a key by a replaced value", async () => {
    await using app = await appWith("another");
    const { key, value } = await app.createKey({ name: "wanted" });
    const rotated = await app.ctx.db.write((tx) =>
      rotateKey(app.ctx, tx, key.id, "now", CLI_ACTOR),
    );
    expect(search(app, value)).toContain("wanted");
    expect(search(app, rotated.value)).toContain("wanted");
  });
});

test("a search and a filter apply together", async () => {
  await using app = await appWith("ci forever", "grafana forever");
  await app.createKey({ name: "ci a week", expires: "2026-03-17" });
  const now = app.clock.now();
  const narrowed = (filter: "expiring" | "never_expires") =>
    listEveryKey(app.ctx.db, { search: "ci", filter, limit: 50, now }).map((key) => key.name);
  expect(narrowed("expiring")).toEqual(["ci a week"]);
  expect(narrowed("never_expires")).toEqual(["ci forever"]);
});
