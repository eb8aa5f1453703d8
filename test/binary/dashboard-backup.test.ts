import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createInstallation,
  holds,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "../support/binary";
import { signInOwner } from "../support/first-owner";

setDefaultTimeout(PROCESS_TEST_MS);

const BACKUP = "/admin/settings/general/backup";
function backUp(server: Server, cookie: string, signal?: AbortSignal): Promise<Response> {
  return server.fetch(BACKUP, {
    method: "POST",
    headers: { cookie, origin: server.url, "content-type": "application/x-www-form-urlencoded" },
    body: "",
    ...(signal && { signal }),
  });
}

function downloadsOf(site: Installation): string[] {
  const folder = join(site.dataDir, "backups");
  return readdirSync(folder).filter((name) => name.startsWith("dashboard-download-"));
}

/** Adds rows with random bytes, so that copying the database takes a second or more. */
function enlarge(site: Installation, megabytes: number): void {
  using sqlite = new Database(join(site.dataDir, "allclear.db"));
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("CREATE TABLE ballast (bytes BLOB)");
  sqlite.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${megabytes})
     INSERT INTO ballast SELECT randomblob(1000000) FROM n`,
  );
}

describe.each([
  ["the executable", false],
  ["the sources", true],
])("a backup by dashboard from %s", (_, isFromSources) => {
  test("the downloaded file restores into another data directory, and a server starts with it", async () => {
    await using site = await createInstallation({ isFromSources });
    await site.createPage("acme", ["API"]);
    const { value: key } = await site.createKey(["read:status"]);
    // A variable that is invalid for the child, which gets no settings.
    const server = await site.serve({
      env: { ALLCLEAR_LOG_LEVEL: "nonsense" },
      args: ["--log-level", "warn", "--public-rate-limit", "10000"],
    });
    const cookie = await signInOwner(server);
    const answer = await backUp(server, cookie);
    const bytes = await answer.bytes();
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(answer.headers.get("content-length")).toBe(String(bytes.length));
    expect(answer.headers.get("content-disposition")).toMatch(
      /^attachment; filename="allclear-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db"$/,
    );
    expect(await holds(async () => downloadsOf(site).length === 0)).toBe(true);
    writeFileSync(site.path("copy.db"), bytes);

    await using other = await createInstallation({ isFromSources });
    expect((await other.run(["restore", site.path("copy.db")])).exitCode).toBe(0);
    const restored = await other.serve();
    expect((await restored.fetch("/api/v1/status/acme", { key })).status).toBe(200);
  });
});

describe("a backup of a large database", () => {
  test("reads are answered at once while it is written to a private file, and nothing stays", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    enlarge(site, 250);
    const server = await site.serve({ args: ["--public-rate-limit", "1000000"] });
    const cookie = await signInOwner(server);
    let isDone = false;
    const startedAt = performance.now();
    const answer = backUp(server, cookie).finally(() => (isDone = true));
    let [reads, slowest] = [0, 0];
    const modes = new Set<number>();
    while (!isDone) {
      const since = performance.now();
      expect((await server.fetch("/status/acme")).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - since);
      reads += 1;
      for (const name of modesOf(site)) modes.add(name);
    }
    expect(reads).toBeGreaterThan(20);
    // A copy in the process of the server would hold up one of them for almost all of the time.
    expect(slowest).toBeLessThan((performance.now() - startedAt) / 4);
    expect([...modes]).toEqual([0o600]);
    expect((await (await answer).bytes()).length).toBeGreaterThan(250e6);
    expect(await holds(async () => downloadsOf(site).length === 0)).toBe(true);
  });

  test("an aborted download leaves no file, while it is written and while it is sent", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    enlarge(site, 120);
    const server = await site.serve();
    const cookie = await signInOwner(server);
    const isEmpty = async () => downloadsOf(site).length === 0;

    const writing = new AbortController();
    const first = backUp(server, cookie, writing.signal);
    const hasBegun = async () => (await folderOf(site)).length > 0;
    expect(await holds(hasBegun)).toBe(true);
    writing.abort();
    await first.catch(() => undefined);
    expect(await holds(isEmpty)).toBe(true);

    const sending = new AbortController();
    const answer = await backUp(server, cookie, sending.signal);
    expect(answer.status).toBe(200);
    sending.abort();
    expect(await holds(isEmpty)).toBe(true);
    // The next one works.
    const last = await backUp(server, cookie);
    expect([last.status, (await last.bytes()).length > 120e6]).toEqual([200, true]);
  });

  test("a start removes what a killed server left", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const folder = join(site.dataDir, "backups");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "dashboard-download-1-1.db.unfinished"), "part");
    await site.serve();
    expect(await holds(async () => downloadsOf(site).length === 0)).toBe(true);
  });
});

async function folderOf(site: Installation): Promise<string[]> {
  try {
    return downloadsOf(site);
  } catch {
    return [];
  }
}

/** Returns the modes of the files that are being written. */
function modesOf(site: Installation): number[] {
  const folder = join(site.dataDir, "backups");
  try {
    return downloadsOf(site).map((name) => statSync(join(folder, name)).mode & 0o777);
  } catch {
    // The folder is not there yet, or a file was renamed.
    return [];
  }
}
