import { describe, expect, test } from "bun:test";
import { parseYamlText, YAML_DEPTH_MAX, YamlTooLarge } from "../../src/base/yaml";

const parse = (text: string) => parseYamlText(text, { prettyErrors: false, logLevel: "silent" });

/** Returns lines that are each indented by one more space. */
const stairs = (count: number, line: string, step = 1) =>
  Array.from({ length: count }, (_, index) => `${" ".repeat(index * step)}${line}`).join("\n");

/** Texts with a number of maps and lists inside each other. A stranger adds a shape as a line. */
const SHAPES: Readonly<Record<string, (depth: number) => string>> = {
  "lists in brackets": (depth) => `${"[".repeat(depth)}x${"]".repeat(depth)}`,
  "brackets that are never closed": (depth) => "[".repeat(depth),
  "maps in braces": (depth) => `${"{a: ".repeat(depth)}x${"}".repeat(depth)}`,
  "lists in one line": (depth) => `${"- ".repeat(depth)}x`,
  "keys in one line": (depth) => `${"a: ".repeat(depth)}x`,
  "keys with question marks": (depth) => `${"? ".repeat(depth)}x`,
  "values without keys": (depth) => ": ".repeat(depth),
  "maps in lines": (depth) => `${stairs(depth, "a:")} x`,
  "maps with anchors": (depth) => `${stairs(depth, "&b a:")} x`,
  "lists with tags": (depth) => `${stairs(depth, "- !t", 2)} x`,
  "lists and maps in lines": (depth) => `${stairs(Math.ceil(depth / 2), "- a:", 3)} x`,
  "maps after blocks of text": (depth) =>
    Array.from({ length: depth }, (_, index) => {
      const indent = " ".repeat(index);
      return `${indent}t: |\n${indent} text\n${indent}a:`;
    }).join("\n"),
};

describe.each(Object.entries(SHAPES))("YAML with %s inside each other", (_, shape) => {
  test(`is parsed with ${YAML_DEPTH_MAX - 5} levels`, () => {
    expect(() => parse(shape(YAML_DEPTH_MAX - 5))).not.toThrow();
  });

  test("is refused with 110 levels before anything is built", () => {
    expect(() => parse(shape(110))).toThrow("more than 100 maps and lists are inside each other");
  });
});

/** Texts that would build much, with the line that is refused. */
const LARGE: readonly [name: string, text: string, line: number][] = [
  ["a million values", "- a\n".repeat(1_000_000), 500_001],
  ["2.5 million empty lines", `a: [${"\n".repeat(3_000_000)}]`, 2_500_000],
  ["2.5 million lines of spaces", `a: 1\n${" \r\n".repeat(3_000_000)}`, 1_250_001],
];

test.each(LARGE)(
  "YAML with more than %s is refused at the line that exceeds them",
  (_, text, line) => {
    try {
      parse(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(YamlTooLarge);
      expect((error as YamlTooLarge).line).toBe(line);
    }
  },
);

test("keys that a map has twice are errors at the second one", () => {
  const { errors } = parse("a: 1\nb:\n  c: 1\n  c: 2\na: 2");
  expect(errors.map(({ code, pos }) => [code, pos[0]]).sort()).toEqual([
    ["DUPLICATE_KEY", 17],
    ["DUPLICATE_KEY", 22],
  ]);
});
