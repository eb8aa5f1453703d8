/*
 * YAML as Gatus reads it. All scalars stay texts, since Gatus reads a token of `0123` as those four characters. Errors
 * contain no value of the file, which may be a secret.
 */

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { oneLine } from "../../base/text";
import { parseYamlText, YAML_DEPTH_MAX, YamlTooLarge } from "../../base/yaml";
import { OperatorError } from "../../db/errors";

/** Value of a file: a text, null, a list or a map. */
export type Yaml = string | null | readonly Yaml[] | YamlMap;

export interface YamlMap {
  readonly [key: string]: Yaml;
}

/** Maximum number of values that aliases repeat: 12,000 endpoints with common settings repeat 200,000. */
const REPEATED_MAX = 500_000;

const LINES_SHOWN = 10;

/** Plain scalars that are null. */
const NULLS: ReadonlySet<string> = new Set(["", "~", "null", "Null", "NULL"]);

/**
 * Parses the first document of a file, and adds the names of its outermost values with an anchor, which may be there
 * for aliases only. Throws an OperatorError that names the file and the lines of its errors.
 */
export function parseYaml(text: string, file: string, anchored = new Set<string>()): Yaml {
  const lines = new LineCounter();
  const refuse = (offset: number, reason: string): never => {
    throw new OperatorError(`${file}, line ${lines.linePos(offset).line}: ${reason}`);
  };
  const document = parseSafely(text, lines, file);
  const numbers = new Set(document.errors.map(({ pos }) => lines.linePos(pos[0]).line));
  if (numbers.size > 0) {
    const shown = [...numbers].sort((a, b) => a - b).slice(0, LINES_SHOWN);
    const where = `${shown.length === 1 ? "line" : "lines"} ${shown.join(", ")}`;
    throw new OperatorError(`${file} is no valid YAML: see ${where}.`);
  }
  const { contents } = document;
  for (const { key, value } of isMap(contents) ? contents.items : []) {
    if (value?.anchor !== undefined && isScalar(key)) anchored.add(String(key.value));
  }
  return new Converter(refuse).convert(contents);
}

function parseSafely(text: string, lineCounter: LineCounter, file: string): Document.Parsed {
  try {
    const options = { prettyErrors: false, schema: "failsafe", logLevel: "silent" } as const;
    return parseYamlText(text, { lineCounter, ...options });
  } catch (error) {
    if (!(error instanceof YamlTooLarge)) throw error;
    throw new OperatorError(`${file}, line ${error.line}: ${error.message}`);
  }
}

/** Value of an anchor, and the number of values in it. */
interface Anchor {
  value: Yaml;
  size: number;
}

/** Converts the nodes of a document, in its order, to plain values. Aliases share the value of their anchor. */
class Converter {
  readonly #refuse: (offset: number, reason: string) => never;
  readonly #anchors = new Map<string, Anchor>();
  #size = 0;
  #repeated = 0;
  #depth = 0;

  constructor(refuse: (offset: number, reason: string) => never) {
    this.#refuse = refuse;
  }

  convert(node: ParsedNode | null): Yaml {
    if (node === null) return null;
    const [offset] = node.range;
    if (isAlias(node)) return this.#repeat(node.source, offset);
    if (node.tag !== undefined) this.#refuse(offset, "it has a tag. Files are read without tags.");
    const before = this.#size;
    this.#size += 1;
    const value = isScalar(node) ? textOf(node) : this.#convertInside(node);
    if (node.anchor !== undefined) {
      this.#anchors.set(node.anchor, { value, size: this.#size - before });
    }
    return value;
  }

  /** Returns the value of an alias. One inside its own anchor has none yet. */
  #repeat(name: string, offset: number): Yaml {
    const anchor = this.#anchors.get(name);
    if (!anchor) return this.#refuse(offset, "it has an alias without an anchor.");
    this.#size += anchor.size;
    this.#repeated += anchor.size;
    if (this.#repeated > REPEATED_MAX) {
      this.#refuse(
        offset,
        `its aliases repeat more than ${REPEATED_MAX.toLocaleString("en")} values.`,
      );
    }
    return anchor.value;
  }

  #convertInside(node: Exclude<ParsedNode, Scalar.Parsed>): Yaml {
    if (this.#depth >= YAML_DEPTH_MAX) {
      this.#refuse(
        node.range[0],
        `more than ${YAML_DEPTH_MAX} maps and lists are inside each other.`,
      );
    }
    this.#depth += 1;
    const value = isSeq(node)
      ? node.items.map((item) => this.convert(item as ParsedNode))
      : this.#convertMap(node as YAMLMap.Parsed);
    this.#depth -= 1;
    return value;
  }

  /** Converts a map. Its own keys win over those of `<<`, and of several maps there the first one wins. */
  #convertMap(map: YAMLMap.Parsed): YamlMap {
    const own = new Map<string, Yaml>();
    const merged: YamlMap[] = [];
    for (const pair of map.items) {
      const key = pair.key as ParsedNode;
      const name = isScalar(key) ? String(key.value) : undefined;
      if (name === undefined) this.#refuse(key.range[0], "a key is no text.");
      const value = this.convert(pair.value as ParsedNode | null);
      if (name === "<<") merged.push(...this.#mapsIn(value, key.range[0]));
      else own.set(name, value);
    }
    const inherited = merged.toReversed().flatMap((each) => Object.entries(each));
    return Object.fromEntries([...inherited, ...own]);
  }

  #mapsIn(value: Yaml, offset: number): YamlMap[] {
    const maps: readonly Yaml[] = isYamlList(value) ? value : [value];
    return maps.map((each) =>
      isYamlMap(each) ? each : this.#refuse(offset, "<< has something other than maps."),
    );
  }
}

function textOf({ type, value }: Scalar.Parsed): string | null {
  const text = String(value);
  return type === "PLAIN" && NULLS.has(text) ? null : text;
}

export function isYamlList(value: Yaml | undefined): value is readonly Yaml[] {
  return Array.isArray(value);
}

export function isYamlMap(value: Yaml | undefined): value is YamlMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Adds the values of a file to those of earlier ones as Gatus does: maps deeply, lists one after the other. Throws an
 * OperatorError for another value that two files have.
 */
export function mergeYaml(into: YamlMap, from: YamlMap, file: string, place = ""): YamlMap {
  const merged = new Map(Object.entries(into));
  for (const [name, value] of Object.entries(from)) {
    const before = merged.get(name);
    if (before === undefined || before === null) merged.set(name, value);
    else if (isYamlMap(before) && isYamlMap(value)) {
      merged.set(name, mergeYaml(before, value, file, `${place}${name}.`));
    } else if (isYamlList(before) && isYamlList(value)) merged.set(name, [...before, ...value]);
    else {
      const key = oneLine(`${place}${name}`);
      throw new OperatorError(
        `${file} has ${key}, as another file has. Only maps and lists are merged.`,
      );
    }
  }
  return Object.fromEntries(merged);
}
