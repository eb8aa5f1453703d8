import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder";

const ROOT = join(import.meta.dir, "..", "..");
/** Folders that every way uses, and that a reader takes as given. */
const TAKEN_AS_GIVEN = /^src\/(base|db)\//;

/** Names of the ways, as the tests of `ways.probe.ts`. */
export const WAYS = [
  "a status read by a key",
  "a new incident",
  "a check",
  "a mail",
  "a form of the dashboard",
] as const;

/** Files of src on a way, without the folders that are taken as given. */
interface Way {
  /** Files whose lines run more often when something goes the way twice than once, in alphabetical order. */
  passed: string[];
  /** Files that were loaded. */
  loaded: ReadonlySet<string>;
}

export async function readWay(way: (typeof WAYS)[number]): Promise<Way> {
  const [once, twice] = await Promise.all([countLines(way, 1), countLines(way, 2)]);
  const isOwn = ([file]: [string, unknown]) =>
    file.startsWith("src/") && !TAKEN_AS_GIVEN.test(file);
  const own = [...twice]
    .filter(isOwn)
    .map(([file, lines]) => [file.slice(4), lines, once.get(file)] as const);
  const passed = own.filter(([, lines, before]) =>
    [...lines].some(([line, count]) => count > (before?.get(line) ?? 0)),
  );
  return {
    passed: passed.map(([file]) => file).sort(),
    loaded: new Set(own.map(([file]) => file)),
  };
}

/** Returns how often each line of each file ran, by file and line. */
async function countLines(way: string, times: number): Promise<Map<string, Map<number, number>>> {
  using folder = temporaryFolder();
  const { path } = folder;
  const child = Bun.spawn(
    [
      process.execPath,
      "test",
      "--coverage",
      "--coverage-reporter=lcov",
      `--coverage-dir=${path}`,
      "--timeout=120000",
      "-t",
      `^${way}$`,
      "./test/support/ways.probe.ts",
    ],
    {
      cwd: ROOT,
      env: { ...process.env, ALLCLEAR_WAY_TIMES: String(times) },
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  const output = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(output);
  const counts = new Map<string, Map<number, number>>();
  let lines = new Map<number, number>();
  for (const row of (await Bun.file(join(path, "lcov.info")).text()).split("\n")) {
    if (row.startsWith("SF:")) counts.set(row.slice(3), (lines = new Map()));
    const [, line, count] = /^DA:(\d+),(\d+)/.exec(row) ?? [];
    if (line !== undefined) lines.set(Number(line), Number(count));
  }
  return counts;
}
