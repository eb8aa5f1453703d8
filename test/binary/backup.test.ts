import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

describe("backup and restore by command", () => {
  test("a backup taken while a server runs restores into another data directory", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { value: key } = await site.createKey(["read:status"]);
    const named = { args: ["--base-url", "https://status.example.com"] };
    const server = await site.serve(named);
    const document = async (from: typeof server) =>
      (await from.fetch("/api/v1/status/acme", { key })).text();
    const before = await document(server);
    await site.output("backup", site.path("copy.db"));
    expect((await server.fetch("/readyz")).status).toBe(200);

    await using other = await createInstallation();
    expect((await other.run(["restore", site.path("copy.db")])).exitCode).toBe(0);
    expect(await document(await other.serve(named))).toBe(before);
  });

  test("a restore keeps keys revoked that were revoked since the backup, even if the server was killed", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const revoked = await site.createKey(["read:status"]);
    const live = await site.createKey(["read:status"]);
    await site.output("backup", site.path("copy.db"));
    const server = await site.serve();
    await site.output("key", "revoke", revoked.id);
    await server.kill();

    const { stderr } = await site.run(["restore", site.path("copy.db")]);
    expect(stderr).toContain("Carried over from the replaced database: 1 revoked key.");
    const restored = await site.serve();
    const statusOf = async (key: string) =>
      (await restored.fetch("/api/v1/status/acme", { key })).status;
    expect([await statusOf(revoked.value), await statusOf(live.value)]).toEqual([401, 200]);
  });

  test("a restore while a server runs is rejected, naming it, and changes nothing", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const { value: key } = await site.createKey(["read:status"]);
    await site.output("backup", site.path("copy.db"));
    const server = await site.serve();
    const files = readdirSync(site.dataDir);
    const rejected = await site.run(["restore", site.path("copy.db")]);
    expect(rejected.exitCode).toBe(1);
    expect(rejected.stderr).toContain(`in use by process ${server.pid} (allclear serve)`);
    expect(readdirSync(site.dataDir)).toEqual(files);
    expect((await server.fetch("/api/v1/status/acme", { key })).status).toBe(200);

    expect(await server.stop()).toBe(0);
    const done = await site.run(["restore", site.path("copy.db")]);
    expect(done.exitCode).toBe(0);
    expect(done.stderr).toContain("The replaced database is kept in");
  });
});
