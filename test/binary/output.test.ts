import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { openSync } from "node:fs";
import { createInstallation, executable, PROCESS_TEST_MS, textOf } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

describe("standard output", () => {
  test("a slow reader of a pipe gets a long output completely", async () => {
    const file = await executable();
    const { stdout } = Bun.spawnSync(["sh", "-c", `'${file}' openapi | (sleep 0.3; cat)`]);
    const text = stdout.toString();
    // Longer than what a pipe holds.
    expect(text.length).toBeGreaterThan(100_000);
    expect(JSON.parse(text)).toMatchObject({ openapi: "3.1.0" });
  });

  test("a reader that closes the pipe early causes no failure", async () => {
    const file = await executable();
    const script = `{ '${file}' openapi; echo "exit $?" >&2; } | head -n 1`;
    const { stdout, stderr } = Bun.spawnSync(["sh", "-c", script]);
    expect([stdout.toString(), stderr.toString()]).toEqual(["{\n", "exit 0\n"]);
  });

  test("a key that cannot be printed is a failure with an exit code", async () => {
    await using site = await createInstallation();
    const child = Bun.spawn(
      [await executable(), "key", "create", "--name", "lost", "--scope", "read:status"],
      {
        env: { ALLCLEAR_DATA_DIR: site.dataDir },
        stdout: openSync("/dev/full", "w"),
        stderr: "pipe",
        timeout: 240_000,
      },
    );
    const stderr = await textOf(child.stderr);
    expect(await child.exited).toBe(1);
    expect(stderr).toContain("no space left on device");
  });
});
