import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

describe("the executable in an empty folder", () => {
  test("the executable starts, prints its address, answers health checks and shows a page", async () => {
    await using site = await createInstallation();
    const server = await site.serve();
    expect(server.stderr()).toContain(`Allclear ${manifest.version} is ready. Open ${server.url}`);
    for (const path of ["/healthz", "/readyz", "/readyz/write"]) {
      const answer = await server.fetch(path);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(await answer.json()).toMatchObject({ status: "ok" });
    }
    const home = await server.fetch("/");
    expect(home.status).toBe(200);
    expect(home.headers.get("content-type")).toBe("text/html;charset=utf-8");
    expect(await home.text()).toContain("This is a sample.");
    expect(readdirSync(site.workDir)).toEqual([]);
  });

  test("the executable keeps its data in ./data by default", async () => {
    await using site = await createInstallation();
    const create = ["key", "create", "--name", "n", "--scope", "read:status"];
    const { exitCode } = await site.run([...create, "--data-dir", "./data"]);
    expect(exitCode).toBe(0);
    expect(existsSync(join(site.workDir, "data/allclear.db"))).toBe(true);
    expect(existsSync(site.dataDir)).toBe(false);
  });

  test("the executable opens its database again after a restart", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const key = await site.createKey(["read:status"]);
    const first = await site.serve();
    expect((await first.fetch("/api/v1/status/acme", { key: key.value })).status).toBe(200);
    expect(await first.stop()).toBe(0);
    const second = await site.serve();
    expect((await second.fetch("/api/v1/status/acme", { key: key.value })).status).toBe(200);
  });

  test("--version prints the version and touches no data directory", async () => {
    await using site = await createInstallation();
    expect(await site.run(["--version"])).toEqual({
      exitCode: 0,
      stdout: `${manifest.version}\n`,
      stderr: "",
    });
    expect(existsSync(site.dataDir)).toBe(false);
  });

  test("a start with wrong settings is rejected, naming each, and touches nothing", async () => {
    await using site = await createInstallation();
    const outcome = await site.run(["serve", "--listen", "nowhere"], {
      env: { ALLCLEAR_LOG_LEVEL: "loud", ALLCLEAR_PUBLIC_RATE_LIMIT: "0" },
    });
    expect(outcome.exitCode).toBe(2);
    expect(outcome.stdout).toBe("");
    expect(outcome.stderr).toContain("--listen must be HOST:PORT");
    expect(outcome.stderr).toContain("ALLCLEAR_LOG_LEVEL must be one of");
    expect(outcome.stderr).toContain("ALLCLEAR_PUBLIC_RATE_LIMIT must be a whole number");
    expect(existsSync(site.dataDir)).toBe(false);
  });
});
