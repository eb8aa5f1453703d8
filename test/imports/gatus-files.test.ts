import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expandVariables, readEnvironment, readGatus } from "../../src/imports/gatus/read";
import { mergeYaml, parseYaml, type YamlMap } from "../../src/imports/gatus/yaml";
import { temporaryFolder } from "../support/temporary-folder";

const parse = (text: string) => parseYaml(text, "config.yaml");

type GatusOptions = Parameters<typeof readGatus>[1];

const OPTIONS: GatusOptions = {
  history: undefined,
  envFile: undefined,
  environment: {},
  allowsUnset: false,
  readsNamedFiles: true,
};

/** Reads files in a folder, or one of them. */
async function read(
  files: Record<string, string>,
  options: Partial<GatusOptions> & { path?: string } = {},
) {
  using folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder.path, name, ".."), { recursive: true });
    writeFileSync(join(folder.path, name), text);
  }
  const { path = "", envFile, ...others } = options;
  return await readGatus(join(folder.path, path), {
    ...OPTIONS,
    ...others,
    envFile: envFile === undefined ? undefined : join(folder.path, envFile),
  });
}

const endpoint = (name: string, more = "") =>
  `endpoints:\n  - name: ${name}\n    url: https://${name}.example.com\n    conditions: ["[STATUS] == 200"]\n${more}`;

const namesIn = ({ components }: { components: readonly { body: { name: string } }[] }) =>
  components.map(({ body }) => body.name);

describe("YAML", () => {
  test("keeps all scalars as they are written, but for null", () => {
    expect(parse("a: 0123\nb: 1.10\nc: yes\nd: ~\ne:\nf: 'null'\ng: \"\"\nh: null")).toEqual({
      a: "0123",
      b: "1.10",
      c: "yes",
      d: null,
      e: null,
      f: "null",
      g: "",
      h: null,
    });
  });

  test("repeats the values of anchors, and merges maps with <<", () => {
    const text = `
base: &base { a: "1", b: { c: "2" } }
more: &more { a: "9", d: "4" }
one: { <<: *base, a: "3" }
two: { a: "3", <<: [*base, *more] }
list: [*base]`;
    expect(parse(text)).toMatchObject({
      one: { a: "3", b: { c: "2" } },
      two: { a: "3", b: { c: "2" }, d: "4" },
      list: [{ a: "1", b: { c: "2" } }],
    });
  });

  test("has no map with an inherited name", () => {
    const map = parse("__proto__: { a: x }\nconstructor: y") as YamlMap;
    expect(Object.keys(map)).toEqual(["__proto__", "constructor"]);
    expect("a" in map).toBe(false);
  });

  test("with aliases that multiply is refused soon", () => {
    const levels = Array.from({ length: 20 }, (_, index) => {
      const item = index === 0 ? "x" : `*a${index - 1}`;
      return `a${index}: &a${index} [${Array(10).fill(item).join(", ")}]`;
    });
    expect(() => parse(levels.join("\n"))).toThrow(
      "config.yaml, line 6: its aliases repeat more than 500,000 values.",
    );
  });

  test("with merge keys that multiply is refused soon", () => {
    const levels = Array.from({ length: 30 }, (_, index) => {
      const item =
        index === 0 ? "x: y" : `b: *a${index - 1}, c: *a${index - 1}, <<: *a${index - 1}`;
      return `a${index}: &a${index} { ${item} }`;
    });
    expect(() => parse(levels.join("\n"))).toThrow("aliases repeat more than 500,000 values");
  });

  test.each([
    ["an alias inside its own anchor", "a: &a [*a]", "line 1: it has an alias without an anchor"],
    ["an alias without an anchor", "a: 1\nb: *x", "line 2: it has an alias without an anchor"],
    ["a tag of the language", "a: 1\nb: !!str x", "line 2: it has a tag"],
    ["a tag of a program", "a: !include secrets.yaml", "line 1: it has a tag"],
    ["a binary tag", "a: !!binary aGk=", "line 1: it has a tag"],
    ["a tag on a map", "a: !!map { b: 1 }", "line 1: it has a tag"],
    ["a key that is a list", "? [a]\n: b", "line 1: a key is no text"],
    ["a merge key without a map", "a: { <<: b }", "line 1: << has something other than maps"],
    ["a key twice", "a: 1\nb: 2\na: 3", "no valid YAML: see line 3"],
    ["a broken bracket", "a: [1\nb: 2", "no valid YAML"],
    ["lists inside each other", `a: ${"[".repeat(101)}${"]".repeat(101)}`, "inside each other"],
    ["100,000 lists inside each other", `a: ${"[".repeat(100_000)}`, "config.yaml"],
  ])("with %s is refused", (_name, text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test("that is not valid is refused without its text", () => {
    let message = "";
    try {
      parse("token: 'hunter22\nother: [\n");
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain("no valid YAML");
    expect(message).not.toContain("hunter22");
  });
});

describe("files of a folder", () => {
  test("are merged: maps deeply, lists one after the other", () => {
    const merged = mergeYaml(
      parse("a: { x: 1, l: [1] }\nl: [1]") as YamlMap,
      parse("a: { y: 2, l: [2] }\nl: [2, 3]\nb: 1") as YamlMap,
      "b.yaml",
    );
    expect(merged).toEqual({ a: { x: "1", l: ["1", "2"], y: "2" }, l: ["1", "2", "3"], b: "1" });
  });

  test("that have the same value are refused with its place", () => {
    const files = { "a.yaml": endpoint("a", "ui: { title: A }"), "b.yml": "ui: { title: A }" };
    return expect(read(files)).rejects.toThrow("has ui.title, as another file has");
  });

  test("are read in the order of their names, also those of folders in it", async () => {
    const found = await read({
      "b.yaml": endpoint("b"),
      "a.yml": endpoint("a"),
      "c/d.yaml": endpoint("d"),
      "notes.txt": "no: [",
      "..data/a.yaml": endpoint("hidden"),
    });
    expect(namesIn(found)).toEqual(["a", "b", "d"]);
  });

  test("may be links, as those that Kubernetes mounts", async () => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "..data"));
    writeFileSync(join(folder.path, "..data", "config.yaml"), endpoint("linked"));
    symlinkSync(join("..data", "config.yaml"), join(folder.path, "config.yaml"));
    expect(namesIn(await readGatus(folder.path, OPTIONS))).toEqual(["linked"]);
  });

  test.each([
    ["no such file", {}, "missing.yaml", "There is no file"],
    ["a folder without files", { "notes.txt": "" }, "", "has no file that ends in .yaml or .yml"],
    ["a binary file", { "a.yaml": "$key\0" }, "a.yaml", "is no configuration of Gatus"],
    ["a list", { "a.yaml": "[1]" }, "a.yaml", "is no configuration of Gatus"],
    ["an empty file", { "a.yaml": "" }, "a.yaml", "has no endpoints and no suites"],
    ["a file of another product", { "a.yaml": "services: {}" }, "a.yaml", "has no endpoints"],
    [
      "endpoints that are no list",
      { "a.yaml": "endpoints: {a: 1}\nsuites: [{}]" },
      "a.yaml",
      "endpoints must be a list",
    ],
    ["a file of 9 MiB", { "a.yaml": "#".repeat(9 * 1024 * 1024) }, "a.yaml", "larger than 8 MiB"],
  ])("%s is refused", (_name, files, path, message) => {
    return expect(read(files as unknown as Record<string, string>, { path })).rejects.toThrow(
      message,
    );
  });
});

describe("variables", () => {
  test.each([
    ["$NAME-${NAME}", "value-value"],
    ["$$NAME and $$$NAME", "$NAME and $value"],
    ["${NAME}text $NAME_ $1 ${}", "valuetext   "],
    ["a $ b $. ${ $%", "a $ b $. ${ $%"],
  ])("in %p are replaced as in Gatus", (text, expected) => {
    expect(expandVariables(text, { NAME: "value" }).text).toBe(expected);
  });

  test("that are not set are listed once, without those of comments", () => {
    const text = "# $COMMENT\na: $A ${A} # ${OTHER}\nb: |\n  # $INSIDE\nc: '#$QUOTED'\n";
    expect(expandVariables(text, {}).unset).toEqual(["A", "INSIDE", "QUOTED"]);
  });

  test("with the name of a property of all objects are not set", () => {
    const { text, unset } = expandVariables("$constructor ${__proto__}", {});
    expect({ text, unset }).toEqual({ text: " ", unset: ["constructor", "__proto__"] });
  });

  test("in 200,000 comments are found in short time", () => {
    const text = `${"# $OTHER\n".repeat(200_000)}a: $A\n`;
    expect(expandVariables(text, {}).unset).toEqual(["A"]);
  });

  test("that are not set are refused with the names of all, unless they are allowed", async () => {
    const files = {
      "a.yaml": endpoint("a", "ui: { title: $TITLE }"),
      "b.yaml": "announcements:\n  - message: ${MESSAGE}",
    };
    await expect(read(files)).rejects.toThrow("These variables are not set: TITLE, MESSAGE.");
    const found = await read(files, { allowsUnset: true });
    expect(found.pages[0]?.body).toMatchObject({ name: "Status", slug: "status-page" });
  });

  test("of --env-file precede those of the process", async () => {
    const files = { "c/a.yaml": endpoint("a", "ui: { title: $A $B }"), ".env": "A=file" };
    const environment = { A: "process", B: "process" };
    const found = await read(files, { path: "c", envFile: ".env", environment });
    expect(found.pages[0]?.body.name).toBe("file process");
  });

  test("in a file have a line each, with or without quotes", () => {
    const text = `# comment
A=1
export B = two words # comment
C='single $A # no comment'
D="a \\"b\\"\\nc" # comment
E=
no variable
F=a=b`;
    expect(readEnvironment(text)).toEqual({
      A: "1",
      B: "two words",
      C: "single $A # no comment",
      D: 'a "b"\nc',
      E: "",
      F: "a=b",
    });
  });
});
