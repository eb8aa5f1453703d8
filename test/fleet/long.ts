/**
 * Runs the tests of fleets with all their rounds and prints their figures:
 *
 *     bun test/fleet/long.ts [--rounds N] [FILE…]
 *
 * Without files it runs all of `test/fleet/`, which takes hours, or with at most N rounds each less. The figures stay in a file whose path is printed.
 * Other files work too if their tests use `test/support/fleet/long.ts`: `test/binary/agents.test.ts` has the faults of
 * agents of locations, which take 20 minutes.
 *
 * The tests use real programs. valkey-server, or redis-server without it, nginx and haproxy come from Debian. Litestream, gofakes3
 * and versitygw are built from Go modules into ~/.cache/allclear-tests (or ALLCLEAR_TEST_CACHE) by the first test that
 * needs them, or before by `bun test/support/fleet/get-programs.ts`. Go itself comes from the same proxy if it is
 * missing. A test whose program cannot be had is skipped with a message.
 *
 * `bun test test/fleet` runs the same tests with a few rounds each, as CI does. A test gets its number of rounds from
 * `rounds(few, all)` and gives its figures to `report(…)`, both of `test/support/fleet/long.ts`. Its parts:
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

/** Limit of one test, in ms. */
const TEST_MAX_MS = 3 * 60 * 60_000;

const { values, positionals: files } = parseArgs({
  args: process.argv.slice(2),
  options: { rounds: { type: "string" } },
  allowPositionals: true,
});
const report = join(mkdtempSync(join(tmpdir(), "allclear-fleet-")), "report.txt");
writeFileSync(report, "");
const tests = Bun.spawn(
  [
    process.execPath,
    "test",
    "--no-isolate",
    "--timeout",
    String(TEST_MAX_MS),
    ...(files.length > 0 ? files : ["test/fleet"]),
  ],
  {
    cwd: join(import.meta.dir, "..", ".."),
    env: {
      ...process.env,
      ALLCLEAR_FLEET_REPORT: report,
      ...(values.rounds !== undefined && { ALLCLEAR_FLEET_ROUNDS: values.rounds }),
    },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
const code = await tests.exited;
console.log(`\n${report}:\n${readFileSync(report, "utf8")}`);
process.exit(code);
