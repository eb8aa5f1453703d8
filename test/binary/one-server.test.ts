import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { linkSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

describe("one server per port and data directory", () => {
  test("a port in use ends the start with a sentence and exit code 1 and releases the data directory", async () => {
    await using site = await createInstallation();
    using other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const outcome = await site.run(["serve", "--listen", `127.0.0.1:${other.port}`]);
    expect(outcome).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `127.0.0.1:${other.port} is in use by another program. Choose another address with --listen.\n`,
    });
    const server = await site.serve();
    expect((await server.fetch("/readyz")).status).toBe(200);
  });

  test("a port of another Allclear server is not shared", async () => {
    await using one = await createInstallation();
    await using two = await createInstallation();
    const server = await one.serve();
    const outcome = await two.run(["serve", "--listen", `127.0.0.1:${server.port}`]);
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain("is in use by another program");
  });

  test("a second server on a data directory is rejected, naming the process of the first", async () => {
    await using site = await createInstallation();
    const server = await site.serve();
    const outcome = await site.run(["serve"]);
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain(`in use by process ${server.pid} (allclear serve)`);
    expect(outcome.stderr).not.toContain("is ready");
    expect((await server.fetch("/readyz")).status).toBe(200);
  });

  test.each([
    ["symbolic link", symlinkSync],
    ["hard link", linkSync],
  ])("a second server with a %s to the first one's database is rejected", async (_name, link) => {
    await using one = await createInstallation();
    await using two = await createInstallation();
    await one.createPage("acme", ["API"]);
    const server = await one.serve();
    mkdirSync(two.dataDir);
    link(join(one.dataDir, "allclear.db"), join(two.dataDir, "allclear.db"));
    const outcome = await two.run(["serve"]);
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toMatch(/in use by process \d+ \(allclear serve\)|by another name/);
    expect((await server.fetch("/status/acme")).status).toBe(200);
    expect(await server.stop()).toBe(0);
    const successor = await two.serve();
    expect((await successor.fetch("/status/acme")).status).toBe(200);
  });

  test("a data directory can be served again at once after kill -9", async () => {
    await using site = await createInstallation();
    const first = await site.serve();
    await first.kill();
    const second = await site.serve();
    const rejected = await site.run(["serve"]);
    expect(rejected.stderr).toContain(`in use by process ${second.pid} (allclear serve)`);
  });

  test("two servers on two data directories are independent", async () => {
    await using one = await createInstallation();
    await using two = await createInstallation();
    await one.createPage("first", ["API"]);
    await two.createPage("second", ["API"]);
    const oneKey = await one.createKey(["read:status"], "--rate-limit", "1");
    const twoKey = await two.createKey(["read:status"]);
    const [oneServer, twoServer] = await Promise.all([one.serve(), two.serve()]);

    const statusOf = async (server: typeof oneServer, slug: string, key: string) =>
      (await server.fetch(`/api/v1/status/${slug}`, { key })).status;
    expect(await statusOf(oneServer, "first", oneKey.value)).toBe(200);
    expect(await statusOf(oneServer, "first", oneKey.value)).toBe(429);
    expect(await statusOf(twoServer, "second", twoKey.value)).toBe(200);
    expect(await statusOf(twoServer, "first", twoKey.value)).toBe(404);
    expect(await statusOf(twoServer, "second", oneKey.value)).toBe(401);
    expect(await oneServer.stop()).toBe(0);
    expect(await statusOf(twoServer, "second", twoKey.value)).toBe(200);
  });
});
