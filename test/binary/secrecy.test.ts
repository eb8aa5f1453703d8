import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";
import { rawRequest } from "../support/raw-http";

setDefaultTimeout(PROCESS_TEST_MS);

/** The bytes of all files of a folder, by their path in it. */
function filesOf(folder: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (statSync(path).isFile()) files.set(name, readFileSync(path));
  }
  return files;
}

test("no key value is in the data directory or the log, wherever it was sent", async () => {
  await using site = await createInstallation();
  await site.createPage("acme", ["API"]);
  const created = await site.createKey(["read:status", "write:components"]);
  const rotated = await site.output("key", "rotate", created.id, "--overlap", "24h");
  const plain = await site.output("key", "create", "--name", "plain", "--scope", "read:status");
  const values = [created.value, rotated, plain];
  const server = await site.serve({ args: ["--log-level", "trace"] });

  for (const value of values) {
    expect((await server.fetch("/api/v1/status/acme", { key: value })).status).toBe(200);
    const inQuery = [
      `access_token=${value}`,
      `key=${value}`,
      `${value}=1`,
      `key=%61${value.slice(1)}`,
    ];
    for (const query of inQuery) {
      const answer = await server.fetch(`/api/v1/status/acme?${query}`, { key: value });
      expect(answer.status).toBe(400);
      expect(await answer.text()).not.toContain(value.slice(9));
    }
    const inPath = await server.fetch(`/api/v1/status/${value}`, { key: value });
    expect(inPath.status).toBe(404);
    expect(await inPath.text()).not.toContain(value.slice(9));
    const asBasic = await server.fetch("/api/v1/key", { headers: { authorization: value } });
    expect(asBasic.status).toBe(401);
    const inHost = await rawRequest(server.port, ["GET /api/v1/key HTTP/1.1", `Host: ${value}`]);
    expect(inHost?.status).toBe(401);
    expect(inHost?.body).not.toContain(value.slice(9));
  }
  const whileRunning = filesOf(site.dataDir);
  const log = server.stderr();
  expect(await server.stop()).toBe(0);
  await site.output("backup", join(site.dataDir, "copy.db"));
  const afterwards = filesOf(site.dataDir);

  expect(log).toContain("/api/v1/status/acme");
  expect([...whileRunning.keys()]).toContain("allclear.db-wal");
  expect([...afterwards.keys()]).toContain("copy.db");
  for (const value of values) {
    // What follows the part that is shown in lists.
    const secret = value.slice(13);
    expect(log).not.toContain(secret);
    expect(server.stderr()).not.toContain(secret);
    for (const files of [whileRunning, afterwards]) {
      const holders = [...files].filter(([, bytes]) => bytes.includes(secret));
      expect(holders.map(([name]) => name)).toEqual([]);
    }
  }
  // The search itself finds what is there.
  const shown = [...afterwards].filter(([, bytes]) => bytes.includes(plain.slice(0, 13)));
  expect(shown.map(([name]) => name)).toContain("allclear.db");
});
