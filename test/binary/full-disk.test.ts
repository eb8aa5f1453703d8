import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, holds, PROCESS_TEST_MS, type Server } from "../support/binary";
import { hasTinyDisks, mountTinyDisk } from "../support/tiny-disk";

setDefaultTimeout(PROCESS_TEST_MS);

const FULL = "The disk is full.";

async function readiness(server: Server, path: string) {
  const answer = await server.fetch(path);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

describe.skipIf(!hasTinyDisks())("a server that starts on a full disk", () => {
  test.each([
    { end: "a clean stop", user: "a user" },
    { end: "a clean stop", user: "no user" },
    { end: "kill -9", user: "a user" },
    { end: "kill -9", user: "no user" },
  ])(
    "the server serves pages and stores changes once there is space, after $end and with $user",
    async (how) => {
      using disk = mountTinyDisk("8m");
      const data = join(disk.path, "data");
      const env = { ALLCLEAR_DATA_DIR: data };
      await using site = await createInstallation();
      const run = (...args: string[]) => site.run(args, { env });

      const first = await site.serve({ env });
      if (how.user === "a user") {
        expect((await run("user", "create", "--email", "ada@example.com")).exitCode).toBe(0);
      }
      if (how.end === "kill -9") await first.kill();
      else expect(await first.stop()).toBe(0);
      expect(existsSync(join(data, "allclear.db-shm"))).toBe(how.end === "kill -9");
      disk.fill();

      const server = await site.serve({ env });
      const page = await server.fetch("/");
      expect(page.status).toBe(200);
      expect(await page.text()).toContain("This is a sample.");
      expect(await readiness(server, "/readyz/write")).toMatchObject({
        status: 503,
        body: { code: "unavailable", detail: FULL },
      });
      expect(await readiness(server, "/readyz")).toEqual({
        status: 200,
        body: { status: "ok", writable: false, reason: FULL },
      });
      expect(server.stderr()).toContain(`"reason":"${FULL}"`);
      expect(server.stderr()).not.toContain("/admin/setup/");

      disk.free();
      const isWritable = async () => (await server.fetch("/readyz/write")).status === 200;
      expect(await holds(isWritable)).toBe(true);
      const hasLink = async () => server.stderr().includes("/admin/setup/");
      if (how.user === "no user") expect(await holds(hasLink)).toBe(true);
      // A command can use the database beside it again, and what it changes counts.
      const create = ["key", "create", "--name", "test", "--scope", "read:status", "--json"];
      let key = "";
      const canCreateKey = async () => {
        const { exitCode, stdout } = await run(...create);
        if (exitCode === 0) key = (JSON.parse(stdout) as { value: string }).value;
        return exitCode === 0;
      };
      expect(await holds(canCreateKey)).toBe(true);
      const isKnown = async () => (await server.fetch("/api/v1/status", { key })).status === 200;
      expect(await holds(isKnown)).toBe(true);
      expect(await server.stop()).toBe(0);
    },
  );

  test("the server starts on a full disk after every stop and kill, and leaves no files behind", async () => {
    using disk = mountTinyDisk("8m");
    const env = { ALLCLEAR_DATA_DIR: join(disk.path, "data") };
    await using site = await createInstallation();
    await (await site.serve({ env })).stop();
    disk.fill();
    for (const end of ["stop", "kill", "stop", "kill", "stop"] as const) {
      const server = await site.serve({ env });
      expect((await server.fetch("/status/sample")).status).toBe(200);
      await server[end]();
    }
    disk.free();
    const server = await site.serve({ env });
    expect((await readiness(server, "/readyz/write")).status).toBe(200);
  });
});

test.skipIf(!hasTinyDisks())(
  "a backup to another disk and lists work on a full disk, and a change is rejected",
  async () => {
    using disk = mountTinyDisk("8m");
    const env = { ALLCLEAR_DATA_DIR: join(disk.path, "data") };
    await using site = await createInstallation();
    const create = ["key", "create", "--name", "first", "--scope", "read:status"];
    expect((await site.run(create, { env })).exitCode).toBe(0);
    disk.fill();
    const copy = site.path("copy.db");
    expect((await site.run(["backup", copy], { env })).exitCode).toBe(0);
    expect(existsSync(copy)).toBe(true);
    expect((await site.run(["key", "list"], { env })).stdout).toContain("first");
    const rejected = await site.run(create, { env });
    expect([rejected.exitCode, rejected.stdout]).toEqual([1, ""]);
    expect(rejected.stderr).toContain("The change could not be stored.");
  },
);

test.skipIf(!hasTinyDisks())(
  "a disk that fails for long does not fill the log, since equal errors are counted",
  async () => {
    using disk = mountTinyDisk("8m");
    const env = { ALLCLEAR_DATA_DIR: join(disk.path, "data") };
    await using site = await createInstallation();
    const server = await site.serve({ env });
    const scopes = ["--scope", "read:status", "--scope", "write:components"];
    const made = await site.run(["key", "create", "--name", "k", ...scopes, "--json"], { env });
    const { value: key } = JSON.parse(made.stdout) as { value: string };
    const page = await server.fetch("/api/v1/status/sample", { key });
    const [component] = ((await page.json()) as { components: { id: string }[] }).components;
    disk.fill();
    const change = () =>
      server.fetch(`/api/v1/components/${component?.id}`, {
        method: "PATCH",
        key,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ status: "major_outage" }),
      });
    for (let i = 0; i < 200; i++) expect((await change()).status).toBe(503);
    const count = (text: string) => server.stderr().split(text).length - 1;
    expect(count('"a request failed"')).toBe(1);
    expect(count('"changes could not be stored"')).toBe(1);
    expect(count("stack")).toBeLessThanOrEqual(4);
    disk.free();
    await server.stop();
    const isCounted = async () => server.stderr().includes("a request failed (repeated 199 times)");
    expect(await holds(isCounted)).toBe(true);
  },
);
