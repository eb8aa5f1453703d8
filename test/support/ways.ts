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

/**
 * Returns the files of src, without the folders of all ways, of which lines run each time that something goes a way:
 * those whose lines run more often when it does so twice than once.
 */
export async function readWay(way: (typeof WAYS)[number]): Promise<string[]> {
  const [once, twice] = await Promise.all([countLines(way, 1), countLines(way, 2)]);
  return [...twice]
    .filter(([file, lines]) => {
      const before = once.get(file);
      return [...lines].some(([line, count]) => count > (before?.get(line) ?? 0));
    })
    .map(([file]) => file)
    .filter((file) => file.startsWith("src/") && !TAKEN_AS_GIVEN.test(file))
    .map((file) => file.slice("src/".length))
    .sort();
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
