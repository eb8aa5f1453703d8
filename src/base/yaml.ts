/*
 * YAML that people hand in. The parser builds the whole tree, up to 3 KiB for each token, before its depth can be
 * judged. The tokens of the lexer are therefore counted first, which needs no memory.
 */

import {
  CST,
  type Document,
  type DocumentOptions,
  isScalar,
  Lexer,
  parseDocument,
  type ParseOptions,
  type SchemaOptions,
  visit,
  YAMLParseError,
} from "yaml";

/** Maximum number of maps and lists inside each other, of tokens without spaces, and of ends of lines and spaces. */
export const YAML_DEPTH_MAX = 100;

const TOKENS_MAX = 1_000_000;

/** The parser keeps 150 bytes for each. A file has hardly more of these than of other tokens. */
const BLANKS_MAX = 2_500_000;

/** Text that is not parsed. `line` is the one, from 1, in which a limit is exceeded. */
export class YamlTooLarge extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Parses the first document of a text. Errors of YAML, and keys that a map has twice, are in its `errors`. Throws a
 * YamlTooLarge, before anything is built, for a text with too many tokens or levels.
 */
export function parseYamlText(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions,
): Document.Parsed {
  requireModestYaml(text);
  // The parser compares each key with all others of its map.
  const document = parseDocument(text, { ...options, uniqueKeys: false });
  const nodes = document.errors.length === 0 ? document.contents : null;
  visit(nodes, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        // Several keys << add their maps one after the other.
        if (!isScalar(key) || (options.merge && key.source === "<<")) continue;
        if (keys.has(key.value)) {
          const [start = 0, end = start] = key.range ?? [];
          const error = "Map keys must be unique";
          document.errors.push(new YAMLParseError([start, end], "DUPLICATE_KEY", error));
        }
        keys.add(key.value);
      }
    },
  });
  return document;
}

/** Throws a YamlTooLarge for a text with too many tokens, or maps and lists inside each other. */
function requireModestYaml(text: string): void {
  const levels = new Levels();
  let tokens = 0;
  let blanks = 0;
  let at = 0;
  let line = 1;
  let lineStart = 0;
  let isText = false;
  for (const token of new Lexer().lex(text)) {
    const type: CST.TokenType | null = isText ? "scalar" : CST.tokenType(token);
    // Marks of the lexer are not in the text.
    isText = type === "scalar" && !isText;
    if (isText || type === "doc-mode" || type === "flow-error-end") {
      if (type === "flow-error-end") levels.closeBrackets();
      continue;
    }
    if (type === "space" || type === "newline") blanks += 1;
    else {
      tokens += 1;
      levels.add(type, at - lineStart);
    }
    if (blanks > BLANKS_MAX) {
      const most = BLANKS_MAX.toLocaleString("en");
      throw new YamlTooLarge(line, `the file has more than ${most} spaces and lines up to here.`);
    }
    if (tokens > TOKENS_MAX) {
      const most = TOKENS_MAX.toLocaleString("en");
      throw new YamlTooLarge(line, `the file has more than ${most} values and signs up to here.`);
    }
    if (levels.depth > YAML_DEPTH_MAX) {
      const reason = `more than ${YAML_DEPTH_MAX} maps and lists are inside each other.`;
      throw new YamlTooLarge(line, reason);
    }
    for (let end = token.indexOf("\n"); end !== -1; end = token.indexOf("\n", end + 1)) {
      line += 1;
      lineStart = at + end + 1;
      levels.startLine();
    }
    at += token.length;
  }
}

/** Number of maps and lists around a token. It may be too high by a few, and is never too low by more than one. */
class Levels {
  /** Columns of the open maps and lists that indentation shows, and of the last value. */
  readonly #columns: number[] = [];
  /** Number of open brackets and braces. */
  #brackets = 0;
  /** True before the first token of a line. */
  #isLineStart = true;
  /** True where a map can begin: at the start of a line, and after the signs of lists, keys and values. */
  #isMapStart = true;
  /** True between the sign of a block of text and that text. */
  #isBeforeBlock = false;

  get depth(): number {
    return this.#columns.length - 1 + this.#brackets;
  }

  startLine(): void {
    this.#isLineStart = true;
    this.#isMapStart = true;
  }

  /** Closes all brackets and braces, as a line does whose indentation is too small for them. */
  closeBrackets(): void {
    this.#brackets = 0;
  }

  add(type: CST.TokenType | null, column: number): void {
    if (type === "flow-seq-end" || type === "flow-map-end") {
      this.#brackets = Math.max(this.#brackets - 1, 0);
      return;
    }
    const isOpening = type === "flow-seq-start" || type === "flow-map-start";
    if (this.#brackets === 0) this.#addInBlock(type, column);
    if (isOpening) this.#brackets += 1;
  }

  #addInBlock(type: CST.TokenType | null, column: number): void {
    switch (type) {
      case "comment":
        return;
      case "doc-start":
      case "doc-end":
        this.#columns.length = 0;
        return;
      case "seq-item-ind":
      case "explicit-key-ind":
        this.#push(column);
        this.#isMapStart = true;
        return;
      case "map-value-ind":
        // One after a key belongs to the map that the key began.
        if (this.#isMapStart) this.#push(column);
        this.#isMapStart = true;
        return;
      case "anchor":
      case "tag":
        if (this.#isLineStart) this.#push(column);
        return;
      default:
        if (this.#isBeforeBlock) {
          this.#isBeforeBlock = false;
          return;
        }
        if (this.#isMapStart) this.#push(column);
        this.#isMapStart = false;
        this.#isBeforeBlock = type === "block-scalar-header";
    }
  }

  /** Adds a level. The first token of a line ends those that began at its column or behind it. */
  #push(column: number): void {
    if (this.#isLineStart) {
      while ((this.#columns.at(-1) ?? -1) >= column) this.#columns.pop();
      this.#isLineStart = false;
    }
    this.#columns.push(column);
  }
}
