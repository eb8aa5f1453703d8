import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { commandLine, installedCommandLine, jsonOf } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

/** The address that `allclear openapi` builds links from: what became of the settings. */
async function addressWith(args: string[], env: Record<string, string>): Promise<string> {
  using folder = temporaryFolder();
  const outcome = await commandLine(folder.path)(["openapi", ...args], env);
  return jsonOf<{ servers: [{ url: string }] }>(outcome).servers[0].url;
}

describe("settings", () => {
  test("a flag overrides the environment, and that the default", async () => {
    const env = { ALLCLEAR_LISTEN: "127.0.0.1:21001" };
    expect(await addressWith([], {})).toBe("http://127.0.0.1:8080");
    expect(await addressWith([], env)).toBe("http://127.0.0.1:21001");
    expect(await addressWith(["--listen", "127.0.0.1:21002"], env)).toBe("http://127.0.0.1:21002");
    expect(await addressWith(["--listen=[::1]:21003"], env)).toBe("http://[::1]:21003");
  });

  test("the public address is --base-url, or by default the address of the server", async () => {
    const env = { ALLCLEAR_BASE_URL: "https://env.example.com/", ALLCLEAR_LISTEN: ":21001" };
    expect(await addressWith([], { ALLCLEAR_LISTEN: ":21001" })).toBe("http://localhost:21001");
    expect(await addressWith([], env)).toBe("https://env.example.com");
    expect(await addressWith(["--base-url", "https://flag.example.com"], env)).toBe(
      "https://flag.example.com",
    );
  });

  test("--data-dir overrides ALLCLEAR_DATA_DIR", async () => {
    using folder = temporaryFolder();
    const [fromEnv, fromFlag] = [join(folder.path, "env"), join(folder.path, "flag")];
    const create = ["key", "create", "--name", "n", "--scope", "read:status"];
    const { exitCode } = await commandLine(fromEnv)([...create, "--data-dir", fromFlag]);
    expect(exitCode).toBe(0);
    expect(existsSync(join(fromFlag, "allclear.db"))).toBe(true);
    expect(existsSync(fromEnv)).toBe(false);
  });

  test("an invalid variable stops a command unless a flag overrides it", async () => {
    using folder = temporaryFolder();
    const run = installedCommandLine(folder.path);
    const env = { ALLCLEAR_LISTEN: "somewhere" };
    const stopped = await run(["key", "list"], env);
    expect(stopped.exitCode).toBe(2);
    expect(stopped.err[0]).toBe(
      'ALLCLEAR_LISTEN must be HOST:PORT, such as 127.0.0.1:8080; it is "somewhere".',
    );
    expect((await run(["key", "list", "--listen", ":1"], env)).exitCode).toBe(0);
  });
});
