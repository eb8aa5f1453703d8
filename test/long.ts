/**
 * Runs the tests of fleets and of agents of locations with all their rounds, and prints their figures:
 *
 *     bun test/long.ts [--rounds N] [FILE…]
 *
 * Without files it runs all of `test/fleet/`, in hours, and `test/binary/agents.test.ts`, in 20 minutes.
 * `--rounds N` shortens tests of more than N rounds. The figures stay in a file whose path is printed.
 *
 * The tests use real programs. valkey-server, or redis-server without it, nginx and haproxy come from Debian. Litestream, gofakes3
 * and versitygw are built from Go modules into ~/.cache/allclear-tests (or ALLCLEAR_TEST_CACHE) by the first test that
 * needs them, or before by `bun test/support/fleet/get-programs.ts`. Go itself comes from the same proxy if it is
 * missing. A test whose program cannot be had is skipped with a message.
 *
 * `bun test test/fleet` runs the same tests with a few rounds each, as CI does. A test gets its number of rounds from
 * `rounds(few, all)` and gives its figures to `report(…)`, both of `test/support/long.ts`. Parts of those of fleets:
 *
 * - `describeWithPrograms(name, { go, debian }, body)` skips with a message,
 * - `startS3(name)`, `startRedis()`, `startNginx(http)`, `startHaproxy(text)` start servers on free ports of loopback,
 *   which the test can `freeze()`, `thaw()`, `kill()` and `restart()`,
 * - `startLink(port)` puts a link before a server, which the test can cut, stall or slow down,
 * - `startNetwork()` gives nodes network namespaces of their own, whose links the test can cut; it needs root and `ip`,
 *   and nftables for single ports,
 * - `litestreamPath()` returns Litestream.
 *
 * `bun test/fleet/journey.ts` starts the fleet of deploy/fleet/compose.yaml once, replaces its primary by hand, as planned
 * or automatically, and prints each step with its time.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** Files and folders of tests that run if none are named. */
const FILES = ["test/fleet", "test/binary/agents.test.ts"];

/** Limit of one test, in ms. */
const TEST_MAX_MS = 3 * 60 * 60_000;

const { values, positionals: files } = parseArgs({
  args: process.argv.slice(2),
  options: { rounds: { type: "string" } },
  allowPositionals: true,
});
const report = join(mkdtempSync(join(tmpdir(), "allclear-long-")), "report.txt");
writeFileSync(report, "");
const tests = Bun.spawn(
  [
    process.execPath,
    "test",
    "--no-isolate",
    "--timeout",
    String(TEST_MAX_MS),
    ...(files.length > 0 ? files : FILES),
  ],
  {
    cwd: join(import.meta.dir, ".."),
    env: {
      ...process.env,
      ALLCLEAR_LONG_REPORT: report,
      ...(values.rounds !== undefined && { ALLCLEAR_LONG_ROUNDS: values.rounds }),
    },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
const code = await tests.exited;
console.log(`\n${report}:\n${readFileSync(report, "utf8")}`);
process.exit(code);
