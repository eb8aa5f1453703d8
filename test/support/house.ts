/**
 * Prints figures about the structure of src: files, lines, importers of each file, users of each export, cycles.
 * Run by hand: `bun test/support/house.ts`, with `--single`, `--unused`, `--cycles` or
 * `--ways` for lists.
 */
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";
import { readWay, WAYS } from "./ways";

const SRC = join(import.meta.dir, "..", "..", "src");

/** Exports and imports of a file of src. Paths are relative to src. */
interface SourceFile {
  path: string;
  lines: number;
  /** Names that the file declares and exports. */
  declared: Set<string>;
  /** Exported names of other files, as name → file and name there; "*" for all names of a file. */
  passedOn: { name: string; from: string; nameThere: string }[];
  /** Imported names; "*" for a whole module. */
  imported: { from: string; name: string }[];
  /** Files that it loads with `import()` or `require()`. */
  loaded: string[];
  /** Words of its text, to find the names that it takes from what it loads. */
  words: ReadonlySet<string>;
}

/** Files that list what belongs to a part: each file that they import is there for its own sake. */
const LISTS = new Set([
  "background.ts",
  "dashboard.ts",
  "other-routes.ts",
  "pages.ts",
  "features/monitors/probes/index.ts",
  "features/webhooks/formats/index.ts",
]);

const IMPORT = /^import\s+(?:type\s+)?([^;"]*?)\s*(?:from\s+)?"(\.[^"]+)"/gm;
const PASSED_ON = /^export\s+(?:type\s+)?(\*|\{[^}]*\})\s+from\s+"(\.[^"]+)"/gm;
const LOADED = /\b(?:import|require)\(\s*"(\.[^"]+)"/g;
const DECLARED =
  /^export\s+(?:default\s+)?(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|class|const|let|interface|type|enum)\s+([\w$]+)/gm;
/** Names of `export const { one, other: name } = …`. */
const DESTRUCTURED = /^export\s+const\s+\{([^}]*)\}\s*=/gm;

async function read(path: string): Promise<SourceFile> {
  const text = await Bun.file(join(SRC, path)).text();
  const all = (pattern: RegExp) => [...text.matchAll(pattern)];
  const target = (specifier = "") => {
    const from = resolve(path, specifier);
    return from === undefined ? [] : [from];
  };
  return {
    path,
    lines: text.split("\n").length - 1,
    declared: new Set([
      ...all(DECLARED).map(([, name = ""]) => name),
      ...all(DESTRUCTURED).flatMap(([, names = ""]) => namesIn(names).map(({ as }) => as)),
    ]),
    passedOn: all(PASSED_ON).flatMap(([, names = "", specifier]) =>
      target(specifier).flatMap((from) =>
        names === "*"
          ? [{ name: "*", from, nameThere: "*" }]
          : namesIn(names).map(({ name, as }) => ({ name: as, from, nameThere: name })),
      ),
    ),
    imported: all(IMPORT).flatMap(([, clause = "", specifier]) =>
      target(specifier).flatMap((from) => {
        const [, alone = "", braces = ""] = /^([^{]*?),?\s*(?:\{([^}]*)\})?$/.exec(clause) ?? [];
        const whole = alone === "" ? [] : [{ from, name: alone.startsWith("*") ? "*" : "default" }];
        const named = namesIn(braces).map(({ name }) => ({ from, name }));
        return whole.length + named.length === 0 ? [{ from, name: "" }] : [...whole, ...named];
      }),
    ),
    loaded: all(LOADED).flatMap(([, specifier]) => target(specifier)),
    words: new Set(text.match(/[\w$]+/g)),
  };
}

/** Returns the names of a list such as `{ one, type other as name }`, or of a pattern with `other: name`. */
function namesIn(list: string): { name: string; as: string }[] {
  const names = list
    .replace(/[{}]|\/\/.*$/gm, "")
    .split(",")
    .map((each) => each.trim());
  return names
    .filter((each) => each !== "")
    .map((each) => {
      const [name = "", as = name] = each.replace(/^type\s+/, "").split(/\s+as\s+|\s*:\s*/);
      return { name, as };
    });
}

const paths = [...new Glob("**/*.{ts,tsx}").scanSync(SRC)].filter(
  (path) => !path.endsWith(".d.ts"),
);
const known = new Set(paths);
const files = new Map(
  await Promise.all(paths.map(async (path) => [path, await read(path)] as const)),
);

/** Returns the file of src that a specifier means; undefined for packages and other files. */
function resolve(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const base = relative(SRC, join(SRC, dirname(path), specifier));
  return [base, `${base}.ts`, `${base}.tsx`, join(base, "index.ts")].find((each) =>
    known.has(each),
  );
}

/** Returns the file that declares an exported name, and its name there. */
function originOf(path: string, name: string): { path: string; name: string } | undefined {
  const file = files.get(path);
  if (!file || file.declared.has(name)) return file && { path, name };
  for (const { name: passed, from, nameThere } of file.passedOn) {
    if (passed !== name && passed !== "*") continue;
    const origin = originOf(from, passed === "*" ? name : nameThere);
    if (origin) return origin;
  }
  return undefined;
}

const importers = new Map(paths.map((path) => [path, new Set<string>()]));
const users = new Map<string, Set<string>>();
const loadedLazily = new Set([...files.values()].flatMap(({ loaded }) => loaded));
for (const { path, imported, passedOn, loaded, words } of files.values()) {
  for (const from of [
    ...imported.map((each) => each.from),
    ...passedOn.map((each) => each.from),
    ...loaded,
  ]) {
    importers.get(from)?.add(path);
  }
  const taken = loaded.flatMap((from) =>
    [...(files.get(from)?.declared ?? [])]
      .filter((name) => words.has(name))
      .map((name) => ({ from, name })),
  );
  for (const { from, name } of [...imported, ...taken]) {
    const origin = originOf(from, name);
    if (!origin) continue;
    const key = `${origin.path} ${origin.name}`;
    users.set(key, (users.get(key) ?? new Set()).add(path));
  }
}

const single = paths.filter((path) => importers.get(path)?.size === 1 && !loadedLazily.has(path));
const importerOf = (path: string) => [...(importers.get(path) ?? [])][0] ?? "";
const inOwnFolder = single.filter((path) => dirname(importerOf(path)) === dirname(path));
const listed = single.filter((path) => LISTS.has(importerOf(path)));
const exported = [...files.values()].flatMap(({ path, declared }) =>
  [...declared].map((name) => `${path} ${name}`),
);
const usedOnce = exported.filter((key) => users.get(key)?.size === 1);
const usedElsewhere = usedOnce.filter((key) => {
  const [path = ""] = key.split(" ");
  const [user = ""] = users.get(key) ?? [];
  return dirname(user) !== dirname(path);
});
const unused = exported.filter((key) => !users.has(key));
const linesOf = (some: readonly string[]) =>
  some.reduce((sum, path) => sum + (files.get(path)?.lines ?? 0), 0);
const lengths = [...files.values()].map(({ lines }) => lines).toSorted((a, b) => a - b);

/** Returns the number of groups of files that reach each other, by edges of `targetsOf`. */
function cycles(targetsOf: (file: SourceFile) => string[]): string[][] {
  let count = 0;
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const walk = (path: string): void => {
    index.set(path, count);
    low.set(path, count++);
    stack.push(path);
    const file = files.get(path);
    for (const target of file ? targetsOf(file) : []) {
      if (!index.has(target)) walk(target);
      if (stack.includes(target)) low.set(path, Math.min(low.get(path) ?? 0, low.get(target) ?? 0));
    }
    if (low.get(path) !== index.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1) found.push(group);
  };
  for (const path of paths) if (!index.has(path)) walk(path);
  return found;
}

const statically = ({ imported, passedOn }: SourceFile) =>
  [...imported, ...passedOn].map(({ from }) => from);
const isStatic = cycles(statically);
const withLoads = cycles((file) => [...statically(file), ...file.loaded]);

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(0)} %`;
const rows: [string, string | number][] = [
  ["files", paths.length],
  ["lines", linesOf(paths)],
  ["median lines of a file", lengths[Math.floor(lengths.length / 2)] ?? 0],
  ["files with one importer, not loaded lazily", single.length],
  ["their lines", linesOf(single)],
  ["of them with the importer in their folder", inOwnFolder.length],
  ["of them listed by a composition or registry", listed.length],
  ["exports", exported.length],
  [
    "exports that one file uses",
    `${usedOnce.length} (${percent(usedOnce.length, exported.length)})`,
  ],
  ["of them used from another folder", usedElsewhere.length],
  ["exports that only tests use", unused.length],
  ["groups of files in static cycles", isStatic.length],
  ["groups of files in cycles with import()", withLoads.length],
];
for (const [name, value] of rows) console.log(`${name.padEnd(48)} ${value}`);
if (process.argv.includes("--single")) {
  for (const path of single) console.log(`${path} ← ${importerOf(path)}`);
}
if (process.argv.includes("--unused")) {
  for (const key of unused) console.log(key);
}
if (process.argv.includes("--cycles")) {
  for (const group of withLoads) {
    console.log(group.join(" ↔ "));
    for (const path of group) {
      const file = files.get(path);
      const targets = file ? [...statically(file), ...file.loaded] : [];
      const inside = new Set(targets.filter((target) => target !== path && group.includes(target)));
      console.log(`  ${path} → ${[...inside].join(", ")}`);
    }
  }
}
if (process.argv.includes("--ways")) {
  for (const way of WAYS) {
    const { passed } = await readWay(way);
    console.log(`${way}: ${passed.length}\n  ${passed.join("\n  ")}`);
  }
}
