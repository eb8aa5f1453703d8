import { expect, setDefaultTimeout, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { ImportReport } from "../../src/base/import-report";
import {
  createInstallation,
  executable,
  holds,
  type Installation,
  PROCESS_TEST_MS,
} from "../support/binary";
import { dumpOf } from "../support/database-dump";
import { checkOf } from "../support/import-site";
import { hasTinyDisks, mountTinyDisk } from "../support/tiny-disk";

setDefaultTimeout(PROCESS_TEST_MS);

/** Writes a file with so many checks and returns the arguments of its import. */
async function importOf(site: Installation, count: number): Promise<string[]> {
  const checks = Array.from({ length: count }, (_, index) =>
    checkOf(`${index.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`, {
      name: `Job ${index}`,
      slug: `job-${index}`,
    }),
  );
  const file = site.path("checks.json");
  await Bun.write(file, JSON.stringify({ checks }));
  return ["import", "healthchecks", file, "--yes", "--json"];
}

const countsOf = (stdout: string) => (JSON.parse(stdout) as ImportReport).counts;

/** Counts the rows of an import, by table. */
function rowsOf(site: Installation): Record<string, number> {
  const dump = dumpOf(join(site.dataDir, "allclear.db"));
  const tables = [
    "monitors",
    "monitor_tokens",
    "components",
    "import_refs",
    "imports",
    "audit_log",
  ];
  return Object.fromEntries(tables.map((table) => [table, dump[table]?.length ?? 0]));
}

test("an import beside a running server is soon in force, and starts there too", async () => {
  await using site = await createInstallation();
  await site.createPage("acme", ["API"]);
  const { value: key } = await site.createKey(["read:status", "manage:monitors"]);
  const server = await site.serve();
  const monitors = async () => {
    const answer = await server.fetch("/api/v1/monitors", { key });
    return ((await answer.json()) as { data: { name: string; state: string }[] }).data;
  };
  expect(await monitors()).toEqual([]);

  const args = await importOf(site, 2);
  const report = JSON.parse(await site.output(...args, "--paused")) as ImportReport;
  expect(report.counts).toEqual({ created: 3 });
  const hasStates = (state: string) => async () => {
    const listed = await monitors();
    return listed.length === 2 && listed.every((monitor) => monitor.state === state);
  };
  expect(await holds(hasStates("paused"))).toBe(true);
  await site.output("import", "start", report.id ?? "");
  expect(await holds(hasStates("pending"))).toBe(true);
  expect(await server.stop()).toBe(0);
});

test("two imports of one file at once create each monitor once", async () => {
  await using site = await createInstallation();
  await site.createPage("acme", []);
  const args = await importOf(site, 200);
  const outcomes = await Promise.all([site.run(args), site.run(args), site.run(args)]);
  expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  const counts = outcomes.map(({ stdout }) => countsOf(stdout));
  expect(counts.filter(({ created }) => created === 201)).toHaveLength(1);
  expect(counts.filter(({ unchanged }) => unchanged === 200)).toHaveLength(2);
  expect(rowsOf(site)).toMatchObject({ monitors: 200, import_refs: 201, imports: 1 });
});

test("an import of a pipe needs no file", async () => {
  await using site = await createInstallation();
  const [, , file = ""] = await importOf(site, 3);
  const child = Bun.spawn([await executable(), "import", "healthchecks", "/dev/stdin", "--yes"], {
    env: { PATH: process.env.PATH ?? "", ALLCLEAR_DATA_DIR: site.dataDir },
    stdin: new Blob([await Bun.file(file).bytes()]),
    stdout: "ignore",
    stderr: "ignore",
  });
  expect(await child.exited).toBe(0);
  expect(rowsOf(site)).toMatchObject({ monitors: 3 });
});

test.skipIf(!hasTinyDisks())(
  "an import onto a full disk writes nothing, and can be repeated",
  async () => {
    using disk = mountTinyDisk("24m");
    await using site = await createInstallation();
    const env = { ALLCLEAR_DATA_DIR: join(disk.path, "data") };
    expect((await site.run(["import", "list"], { env })).exitCode).toBe(1);
    expect(
      (await site.run([...(await importOf(site, 1)), "--source", "one"], { env })).exitCode,
    ).toBe(0);
    const args = await importOf(site, 2_000);
    disk.fill(400_000);
    const failed = await site.run(args, { env });
    expect([failed.exitCode, failed.stdout]).toEqual([1, ""]);
    expect(failed.stderr).toContain("Nothing was written");
    disk.free();
    const repeated = await site.run(args, { env });
    expect(countsOf(repeated.stdout)).toEqual({ created: 1_999, disabled: 1 });
  },
);

test("kill -9 at any point of an import leaves all of it or nothing, and it can be repeated", async () => {
  const count = 2_000;
  const file = (site: Installation, name: string) => {
    try {
      return statSync(join(site.dataDir, name)).size;
    } catch {
      return 0;
    }
  };
  const moments: ((site: Installation) => boolean)[] = [
    () => true,
    (site) => file(site, "allclear.lock") > 0,
    // Pages of the transaction that no longer fit into memory.
    (site) => file(site, "allclear.db-wal") > 200_000,
    (site) => file(site, "allclear.db-wal") > 1_000_000,
    (site) => file(site, "allclear.db-wal") > 3_000_000,
  ];
  for (const isReached of moments) {
    await using site = await createInstallation();
    await site.createPage("acme", []);
    const before = rowsOf(site);
    const args = await importOf(site, count);
    const child = Bun.spawn([await executable(), ...args], {
      env: { PATH: process.env.PATH ?? "", ALLCLEAR_DATA_DIR: site.dataDir },
      stdout: "ignore",
      stderr: "ignore",
    });
    while (child.exitCode === null && !isReached(site)) await Bun.sleep(1);
    child.kill("SIGKILL");
    await child.exited;

    const left = rowsOf(site);
    const isDone = left["monitors"] !== 0;
    const all = { monitors: count, monitor_tokens: count, components: count, imports: 1 };
    expect(left).toEqual(
      isDone
        ? { ...all, import_refs: count + 1, audit_log: (before["audit_log"] ?? 0) + 1 }
        : before,
    );
    const repeated = countsOf(await site.output(...args));
    expect(repeated).toEqual(isDone ? { unchanged: count } : { created: count + 1 });
    expect(countsOf(await site.output(...args))).toEqual({ unchanged: count });
  }
});
