import { readFileSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { Lexer } from "yaml";
import { firstNames, oneLine } from "../../base/text";
import { OperatorError } from "../../db/errors";
import type { Found } from "../found";
import { readText } from "../kit";
import { findInConfig, type FoundConfig, type Origin } from "./config";
import { withHistory } from "./history";
import type { ReadNamedFile } from "./http";
import { WrongField } from "./tables";
import { isYamlMap, mergeYaml, parseYaml, type YamlMap } from "./yaml";

/** Maximum size of a configuration, of a file that it names, and number of files of a folder. */
const MEBIBYTES_MAX = 8;
const BYTES_MAX = MEBIBYTES_MAX * 1024 * 1024;
const NAMED_BYTES_MAX = 64 * 1024;
const FILES_MAX = 1_000;

const VARIABLES_SHOWN = 50;

interface GatusOptions {
  /** Path of a database whose history is taken over; undefined without one. */
  history: string | undefined;
  /** Path of a file with variables; undefined without one. */
  envFile: string | undefined;
  /** Variables of the process, which those of the file precede. */
  environment: Environment;
  /** True to take variables that are not set as empty, as Gatus does. */
  allowsUnset: boolean;
  /** True if the files of client certificates may be read. */
  readsNamedFiles: boolean;
}

/**
 * Reads a configuration of Gatus from a file, or from all files of a folder that end in .yaml or .yml. Throws an
 * OperatorError for one that cannot be used.
 */
export async function readGatus(path: string, options: GatusOptions): Promise<Found> {
  const { envFile } = options;
  const ofFile =
    envFile === undefined ? {} : readEnvironment(await readText(envFile, MEBIBYTES_MAX));
  const environment = { ...options.environment, ...ofFile };
  const { files, folder } = await listFiles(path);
  const unset = new Set<string>();
  const anchored = new Set<string>();
  const values = new Set<string>();
  let document: YamlMap = {};
  let size = 0;
  for (const file of files) {
    const text = await readText(file, MEBIBYTES_MAX);
    size += text.length;
    if (size > BYTES_MAX) throw new OperatorError(`${path} is larger than 8 MiB.`);
    if (text.includes("\0")) throw new OperatorError(`${file} is no configuration of Gatus.`);
    const expanded = expandVariables(text, environment);
    for (const name of expanded.unset) unset.add(name);
    for (const value of expanded.values) values.add(value);
    if (unset.size > 0 && !options.allowsUnset) continue;
    const value = parseYaml(expanded.text, file, anchored);
    if (value === null) continue;
    if (!isYamlMap(value)) throw new OperatorError(`${file} is no configuration of Gatus.`);
    document = mergeYaml(document, value, file);
  }
  if (!options.allowsUnset) requireSet([...unset]);
  if (!hasEntries(document)) {
    throw new OperatorError(
      `${path} is no configuration of Gatus: it has no endpoints and no suites.`,
    );
  }
  const readNamed = options.readsNamedFiles ? fileReader(folder) : () => undefined;
  const config = findSafely(path, document, { anchored, values, readFile: readNamed });
  return options.history === undefined ? config.found : await withHistory(config, options.history);
}

function findSafely(path: string, document: YamlMap, origin: Origin): FoundConfig {
  try {
    return findInConfig(document, origin);
  } catch (error) {
    if (!(error instanceof WrongField)) throw error;
    throw new OperatorError(`${path} is no configuration of Gatus: ${error.message}.`);
  }
}

function hasEntries(document: YamlMap): boolean {
  return ["endpoints", "suites", "external-endpoints"].some((name) => {
    const value = document[name];
    return Array.isArray(value) && value.length > 0;
  });
}

/** Throws an OperatorError that names variables. */
function requireSet(names: readonly string[]): void {
  if (names.length === 0) return;
  const shown = firstNames(names.map(oneLine), VARIABLES_SHOWN);
  throw new OperatorError(
    `These variables are not set: ${shown}. Give them in a file of variables (--env-file), or allow variables that are not set (--allow-unset-env). A dollar sign that begins none is written $$.`,
  );
}

/** Lists the files of a configuration in the order in which Gatus merges them. */
async function listFiles(path: string): Promise<{ files: string[]; folder: string }> {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return { files: [path], folder: dirname(path) };
  const files = await walk(path);
  if (files.length === 0)
    throw new OperatorError(`${path} has no file that ends in .yaml or .yml.`);
  return { files, folder: path };
}

/** Lists files by name, and those of folders at the place of the folder. */
async function walk(folder: string, files: string[] = []): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  // By bytes, as Go does.
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  for (const entry of entries) {
    // Gatus skips them: files that Kubernetes mounts have a second path there.
    if (entry.name.includes("..")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await walk(path, files);
    else if ([".yaml", ".yml"].includes(extname(entry.name))) files.push(path);
    if (files.length > FILES_MAX) {
      throw new OperatorError(`${folder} has more than ${FILES_MAX.toLocaleString("en")} files.`);
    }
  }
  return files;
}

/** Returns the reader of files that a configuration names. Relative paths begin at its folder. */
function fileReader(folder: string): ReadNamedFile {
  return (name) => {
    const path = resolve(folder, name);
    try {
      const found = statSync(path);
      if (!found.isFile() || found.size > NAMED_BYTES_MAX) return undefined;
      return readFileSync(path, "utf8");
    } catch {
      return undefined;
    }
  };
}

/*
 * Variables in configuration files of Gatus, which it replaces before it parses them: `$NAME` and `${NAME}`; `$$` is a
 * dollar sign.
 */

type Environment = Readonly<Record<string, string | undefined>>;

// As Go's os.Expand: names, one digit or special character, and braces with any text.
const VARIABLE = /\$(?:(\$)|\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*|[0-9*#@!?-]))/g;

/**
 * Replaces the variables of a text. Unset ones become empty, and are listed unless they are in a comment. The values of
 * the others are listed too, since they may be secrets.
 */
export function expandVariables(
  text: string,
  environment: Environment,
): { text: string; unset: string[]; values: ReadonlySet<string> } {
  const missing: { name: string; at: number }[] = [];
  const values = new Set<string>();
  const expanded = text.replace(
    VARIABLE,
    (_whole, dollar: string | undefined, inBraces: string | undefined, plain = "", at: number) => {
      if (dollar !== undefined) return "$";
      const name = inBraces ?? String(plain);
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (value === undefined) missing.push({ name, at });
      else values.add(value);
      return value ?? "";
    },
  );
  const isInComment = missing.length > 0 ? commentsOf(text) : () => false;
  const names = missing.flatMap(({ name, at }) => (isInComment(at) ? [] : [name]));
  return { text: expanded, unset: [...new Set(names)], values };
}

/** Returns a function that is true for offsets in comments. It is asked for rising offsets. */
function commentsOf(text: string): (offset: number) => boolean {
  const comments: { from: number; until: number }[] = [];
  let at = 0;
  for (const token of new Lexer().lex(text)) {
    // Marks of the lexer itself are not in the text.
    if (!text.startsWith(token, at)) continue;
    if (token.startsWith("#")) comments.push({ from: at, until: at + token.length });
    at += token.length;
  }
  let next = 0;
  return (offset) => {
    while ((comments[next]?.until ?? Infinity) <= offset) next += 1;
    return (comments[next]?.from ?? Infinity) <= offset;
  };
}

/** Line of a file of variables: a name, an equals sign and a value, which may be in quotes. */
const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/;

/** Reads a file of variables, with a line `NAME=value` each, as Docker Compose does. */
export function readEnvironment(text: string): Record<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line) => {
    if (/^\s*(#|$)/.test(line)) return [];
    const [, name, value = ""] = LINE.exec(line) ?? [];
    return name === undefined ? [] : [[name, unquoted(value.trimEnd())] as const];
  });
  return Object.fromEntries(pairs);
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unquoted(value: string): string {
  const [, single] = /^'([^']*)'(?:\s+#.*)?$/.exec(value) ?? [];
  if (single !== undefined) return single;
  const [, double] = /^"((?:[^"\\]|\\.)*)"(?:\s+#.*)?$/.exec(value) ?? [];
  // Only the first of adjacent blanks begins a match, so that a long run of them is read once.
  if (double === undefined) return value.replace(/(?<!\s)\s+#.*$/, "");
  return double.replace(/\\(.)/g, (_whole, letter: string) => ESCAPES[letter] ?? letter);
}
