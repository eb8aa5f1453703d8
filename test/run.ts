/**
 * Runs all tests. Arguments are passed to `bun test`. There is one process more than processors, since tests of fleets
 * mostly wait: with two processors, the tests took 430 s instead of 490 s.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";

const tests = Bun.spawn(
  [
    process.execPath,
    "test",
    `--parallel=${availableParallelism() + 1}`,
    "--no-isolate",
    "--timings",
    "test/timings.json",
    // Ends tests that hang. No test needs it, also on a busy machine.
    "--timeout",
    "600000",
    ...process.argv.slice(2),
  ],
  { cwd: join(import.meta.dir, ".."), stdio: ["inherit", "inherit", "inherit"] },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
process.exit(await tests.exited);
