/**
 * Runs all tests, or those that its arguments choose, which are those of `bun test`. One more process runs than there
 * are processors, since tests of fleets mostly wait: with two processors, all take 430 s instead of 490 s.
 */
import { availableParallelism } from "node:os";

const tests = Bun.spawn(
  [
    process.execPath,
    "test",
    `--parallel=${availableParallelism() + 1}`,
    "--no-isolate",
    "--timings",
    "test/timings.json",
    "--timeout",
    "60000",
    ...process.argv.slice(2),
  ],
  { stdio: ["inherit", "inherit", "inherit"] },
);
process.exit(await tests.exited);
