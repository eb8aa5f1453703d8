import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endLeftover, startChild } from "../../../src/fleet/log/replication";
import { temporaryFolder } from "../../support/temporary-folder";
import { until } from "../../support/until";

/** Starts a program of Bun. Its last argument is `name`. */
function start(code: string, pidFile?: string, name = "child") {
  const lines: string[] = [];
  const onLine = (line: string) => lines.push(line);
  const command = [process.execPath, "-e", code, name];
  const child = startChild(command, pidFile === undefined ? { onLine } : { onLine, pidFile });
  return { child, lines };
}

const ENDLESS = "console.log('ready'); setInterval(() => {}, 1_000);";

describe("a child process", () => {
  test("passes on the lines of both outputs, and says how it ended", async () => {
    const { child, lines } = start(
      "process.stdout.write('one\\ntw'); console.error('error'); process.stdout.write('o'); process.exitCode = 3",
    );
    expect(await child.ended).toBe("exit code 3");
    expect(lines.sort()).toEqual(["error", "one", "two"]);
  });

  test("gets neither the settings of the server nor those of Amazon's tools and of Litestream", async () => {
    const settings = [
      "ALLCLEAR_FLEET_SECRET",
      "AWS_CA_BUNDLE",
      "AWS_SECRET_ACCESS_KEY",
      "LITESTREAM_SECRET_ACCESS_KEY",
    ];
    for (const name of settings) process.env[name] = "set";
    const { child, lines } = start(
      "console.log(Object.keys(process.env).filter((name) => /^(ALLCLEAR|AWS|LITESTREAM|PATH$)/.test(name)).join())",
    );
    await child.ended;
    for (const name of settings) delete process.env[name];
    expect(lines).toEqual(["PATH"]);
  });

  test("is asked to end, or killed", async () => {
    const asked = start(ENDLESS);
    await asked.child.stop();
    expect(await asked.child.ended).toBe("SIGTERM");
    const killed = start(ENDLESS);
    await killed.child.stop("at once");
    expect(await killed.child.ended).toBe("SIGKILL");
  });
});

describe("a child of an earlier run", () => {
  test("is ended when the file has its process", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "pid");
    const { child, lines } = start(ENDLESS, file, "its-argument");
    await until(() => lines.length > 0);
    expect(readFileSync(file, "utf8")).toBe(`${child.pid}\n`);
    await endLeftover(file, "its-argument");
    expect(await child.ended).toBe("SIGKILL");
    expect(existsSync(file)).toBe(false);
  });

  test("is left alone when the number belongs to another program", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "pid");
    const { child, lines } = start(ENDLESS);
    await until(() => lines.length > 0);
    writeFileSync(file, `${child.pid}\n`);
    await endLeftover(file, "its-argument");
    expect(existsSync(file)).toBe(false);
    await child.stop();
    expect(await child.ended).toBe("SIGTERM");
    await endLeftover(file, "its-argument");
  });
});
