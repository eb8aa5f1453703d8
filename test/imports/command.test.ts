import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDataDirectory, tryImportLock } from "../../src/db/data-directory";
import type { ImportReport } from "../../src/base/import-report";
import { type CommandLine, installedCommandLine, jsonOf } from "../support/command-line";
import { dumpOf } from "../support/database-dump";
import { checkOf, UUIDS } from "../support/import-site";
import { temporaryFolder } from "../support/temporary-folder";
import { until } from "../support/until";

const [FIRST, SECOND, THIRD] = UUIDS;

/** Data directory with a file of two checks, and the commands on it. */
async function installation() {
  const folder = temporaryFolder();
  const file = join(folder.path, "checks.json");
  const write = (...checks: unknown[]) => Bun.write(file, JSON.stringify({ checks }));
  await write(checkOf(FIRST), checkOf(SECOND, { name: "Weekly report", status: "paused" }));
  const run: CommandLine = installedCommandLine(folder.path);
  return {
    path: folder.path,
    file,
    write,
    run,
    import: (args: string[] = [], input?: string[]) =>
      run(["import", "healthchecks", file, ...args], {}, input),
    dump: () => dumpOf(join(folder.path, "allclear.db")),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

type Site = Awaited<ReturnType<typeof installation>>;

/** Imports the file and returns the report. */
async function imported(site: Site, ...args: string[]): Promise<ImportReport> {
  return jsonOf<ImportReport>(await site.import(["--yes", "--json", ...args]));
}

const pausedRefs = (site: Site) =>
  (site.dump()["monitors"] ?? []).flatMap(({ ref, paused }) => (paused ? [ref] : []));

describe("allclear import healthchecks", () => {
  test("prints the plan in a dry run, and leaves the database as it was", async () => {
    using site = await installation();
    const before = JSON.stringify(site.dump());
    const { exitCode, out, err } = await site.import(["--dry-run"]);
    expect(exitCode).toBe(0);
    expect(out).toContain("Checks:");
    expect(out).toContain("  created    Nightly backup  → monitor nightly-backup");
    expect(out.at(-1)).toBe("2 created, 1 changed.");
    expect(err).toEqual(["A dry run: nothing was written."]);
    expect(JSON.stringify(site.dump())).toBe(before);
  });

  test("reports the same in a dry run as in the import, without ids of new objects", async () => {
    using site = await installation();
    const plan = jsonOf<ImportReport>(await site.import(["--dry-run", "--json"]));
    const report = await imported(site);
    const withoutIds = (items: ImportReport["items"]) =>
      items.map(({ target, ...item }) => ({ ...item, target: target && { ...target, id: "" } }));
    expect(plan).toMatchObject({ id: null, dry_run: true, counts: report.counts });
    expect(withoutIds(plan.items)).toEqual(withoutIds(report.items));
    expect(plan.items.flatMap(({ target }) => target?.id ?? [])).toEqual([]);
    expect(report.items.flatMap(({ target }) => target?.id ?? [])).toHaveLength(3);
  });

  test("asks a person after the plan, and imports after yes alone", async () => {
    using site = await installation();
    const before = JSON.stringify(site.dump());
    const refused = await site.import([], ["no"]);
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.err).toEqual(["Import this? Type yes to go on.", "Nothing was imported."]);
    expect(JSON.stringify(site.dump())).toBe(before);
    const accepted = await site.import([], ["yes"]);
    expect(accepted.exitCode).toBe(0);
    expect(accepted.err.at(-1)).toMatch(/^Imported as imp_[0-9a-z]{26}\.$/);
    expect(site.dump()["monitors"]).toHaveLength(2);
    const again = await site.import([], ["yes"]);
    expect(again.out.at(-1)).toBe("2 unchanged.");
    expect(again.err).toEqual(["Nothing to change."]);
    const path = join(site.path, "report.json");
    await site.import(["--report", path], ["yes"]);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ counts: { unchanged: 2 } });
  });

  test.each([
    [["--json"], "--json needs --dry-run or --yes."],
    [[], "Without a terminal, --dry-run or --yes is required."],
    [["--yes", "--source", "Mine!"], "--source must have only lower-case letters"],
    [["--yes", "--only", "users"], "--only is one of pages, monitors, webhooks, history."],
    [["--yes", "--history-days", "0"], "--history-days is a number from 1 to 36500, all or none."],
    [["--yes", "--ping-key", "a b"], "--ping-key is no key."],
    [["--yes", "--internal-page", "Not a slug"], "--internal-page must match"],
    [["--yes", "--internal-page", "admin"], "--internal-page is reserved."],
  ])("rejects %p, and writes nothing", async (args, problem) => {
    using site = await installation();
    const { exitCode, out, err } = await site.import(args);
    expect([exitCode, out]).toEqual([2, []]);
    expect(err[0]).toStartWith(problem);
    expect(site.dump()["monitors"]).toEqual([]);
  });

  test("fails with 1 for a file that cannot be used", async () => {
    using site = await installation();
    await Bun.write(site.file, "{");
    const { exitCode, err } = await site.import(["--yes"]);
    expect(exitCode).toBe(1);
    expect(err).toHaveLength(1);
    expect(err[0]).toContain("is no answer of Healthchecks");
  });

  test("exits with 0 if objects could not be moved", async () => {
    using site = await installation();
    await site.write("no check");
    const { exitCode, out, err } = await site.import(["--yes"]);
    expect(exitCode).toBe(0);
    expect(out.at(-1)).toBe("1 not moved.");
    expect(err).toEqual(["Nothing to change."]);
  });

  test("writes the report to a file that only the user can read", async () => {
    using site = await installation();
    const path = join(site.path, "report.json");
    const report = await imported(site, "--report", path);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(report);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const again = await imported(site, "--report", path);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(again);
  });

  test("imports nothing if its report cannot be written", async () => {
    using site = await installation();
    const failed = await site.import(["--yes", "--report", join(site.path, "no", "report.json")]);
    expect(failed.exitCode).toBe(1);
    expect(failed.err[0]).toContain("The report cannot be written");
    expect(site.dump()["monitors"]).toEqual([]);
  });

  test("names the import whose report no longer fits onto the disk", async () => {
    using site = await installation();
    const failed = await site.import(["--yes", "--report", "/dev/full"]);
    expect([failed.exitCode, failed.out]).toEqual([1, []]);
    expect(failed.err.join()).toMatch(
      /^Imported as imp_[0-9a-z]{26}\. The report cannot be written/,
    );
    expect(site.dump()["monitors"]).toHaveLength(2);
  });

  test("never writes the report over its source", async () => {
    using site = await installation();
    const source = readFileSync(site.file, "utf8");
    const { exitCode, err } = await site.import(["--yes", "--report", site.file]);
    expect([exitCode, err[0]]).toEqual([2, "--report is the source, which is only read."]);
    expect(readFileSync(site.file, "utf8")).toBe(source);
  });

  test("creates a database if there is none", async () => {
    using site = await installation();
    const env = { ALLCLEAR_DATA_DIR: join(site.path, "new") };
    const { exitCode } = await site.run(["import", "healthchecks", site.file, "--yes"], env);
    expect(exitCode).toBe(0);
    expect(existsSync(join(site.path, "new", "allclear.db"))).toBe(true);
  });

  test("plans a new installation in a dry run without one, and creates none", async () => {
    using site = await installation();
    const dataDir = join(site.path, "new");
    const env = { ALLCLEAR_DATA_DIR: dataDir };
    const args = ["import", "healthchecks", site.file, "--dry-run"];
    const { exitCode, out, err } = await site.run(args, env);
    expect([exitCode, out.at(-1)]).toEqual([0, "2 created, 1 changed."]);
    expect(err).toEqual([
      `There is no database in ${dataDir}: this is the plan for a new one.`,
      "A dry run: nothing was written.",
    ]);
    expect(existsSync(dataDir)).toBe(false);
  });

  test("limited to other kinds moves no check, and says so", async () => {
    using site = await installation();
    const report = await imported(site, "--only", "webhooks");
    expect(report.counts).toEqual({ not_moved: 2 });
    expect(report.items[0]?.reason).toBe("Only webhooks are imported.");
    expect((await imported(site, "--only", "monitors")).counts).toEqual({ created: 2, changed: 1 });
  });

  test("leaves monitors without a component with --internal-page none", async () => {
    using site = await installation();
    expect((await imported(site, "--internal-page", "none")).counts).toEqual({
      created: 1,
      changed: 1,
    });
    expect(site.dump()["pages"]).toEqual([]);
  });

  test("gives one result when two imports run at once", async () => {
    using site = await installation();
    const reports = await Promise.all([imported(site), imported(site)]);
    const counts = reports.map((report) => report.counts);
    expect(counts).toContainEqual({ created: 2, changed: 1 });
    expect(counts).toContainEqual({ unchanged: 2 });
    expect(site.dump()["monitors"]).toHaveLength(2);
    expect(site.dump()["imports"]).toHaveLength(1);
  });
});

describe("allclear import while another process imports", () => {
  /** Locks imports, as the other process does. */
  function lockOf(site: Site) {
    const lock = tryImportLock(openDataDirectory(site.path));
    if (!lock) throw new Error("nobody else imports");
    return lock;
  }

  test("waits for its end", async () => {
    using site = await installation();
    const lock = lockOf(site);
    const waiting = site.import(["--yes"]);
    await until(() => existsSync(join(site.path, "allclear.pid")));
    lock.release();
    expect((await waiting).exitCode).toBe(0);
    expect(site.dump()["monitors"]).toHaveLength(2);
  });

  test("is refused after five seconds, and a dry run is not", async () => {
    using site = await installation();
    const lock = lockOf(site);
    expect((await site.import(["--dry-run"])).exitCode).toBe(0);
    const refused = await site.import(["--yes"]);
    lock.release();
    expect(refused).toMatchObject({
      exitCode: 1,
      err: ["Another import is running. Wait until it has ended."],
    });
    expect(site.dump()["monitors"]).toEqual([]);
  }, 600_000);
});

describe("a configuration file", () => {
  test("contains imported monitors, and --prune does not remove them", async () => {
    using site = await installation();
    await imported(site);
    const exported = (await site.run(["export"])).out.join("\n");
    expect(exported).toContain("ref: nightly-backup");
    expect(exported).not.toContain(FIRST);
    const empty = join(site.path, "empty.yaml");
    await Bun.write(empty, "pages: []\n");
    expect((await site.run(["apply", empty, "--prune"])).exitCode).toBe(0);
    const monitors = site.dump()["monitors"] ?? [];
    expect(monitors.map(({ managed_by: by, deleted_at: at }) => [by, at])).toEqual([
      ["import", null],
      ["import", null],
    ]);
  });

  test("that changes an imported monitor makes the next import keep it", async () => {
    using site = await installation();
    await imported(site);
    const file = join(site.path, "all.yaml");
    const exported = (await site.run(["export"])).out.join("\n");
    await Bun.write(
      file,
      exported.replace("name: Nightly backup\n            ref", "name: Ours\n            ref"),
    );
    expect((await site.run(["apply", file])).exitCode).toBe(0);
    await site.write(checkOf(FIRST, { desc: "Theirs" }), checkOf(THIRD, { name: "Third" }));
    const report = await imported(site);
    expect(report.items.map(({ verdict, foreign }) => [foreign.name, verdict])).toEqual([
      ["Nightly backup", "kept"],
      ["Third", "created"],
      ["Weekly report", "kept"],
    ]);
  });
});

describe("allclear import start", () => {
  test("starts what an import with --paused created and nobody edited", async () => {
    using site = await installation();
    await site.write(
      checkOf(FIRST),
      checkOf(SECOND, { name: "Weekly report", status: "paused", manual_resume: true }),
      checkOf(THIRD, { name: "Sync" }),
    );
    const { out, err } = await site.import(["--yes", "--json", "--paused"]);
    const { id } = JSON.parse(out.join("\n")) as ImportReport;
    expect(err).toEqual([
      `Imported as ${id}.`,
      `Its monitors are paused, and their components shown as operational, until: allclear import start ${id}`,
    ]);
    expect(pausedRefs(site)).toEqual(["nightly-backup", "weekly-report", "sync"]);
    const file = join(site.path, "all.yaml");
    const exported = (await site.run(["export"])).out.join("\n");
    await Bun.write(
      file,
      exported.replace("name: Sync\n            ref", "name: Ours\n            ref"),
    );
    await site.run(["apply", file]);

    const started = await site.run(["import", "start", id ?? ""]);
    expect(started).toMatchObject({
      exitCode: 0,
      out: ["nightly-backup"],
      err: ["Started 1 monitor.", "Edited since, and left: sync."],
    });
    expect(pausedRefs(site)).toEqual(["weekly-report", "sync"]);
    const again = await site.run(["import", "start", id ?? "", "--json"]);
    expect(jsonOf<object>(again)).toEqual({ started: [], kept: ["sync"] });
    expect((await imported(site)).counts).toEqual({ unchanged: 3 });
  });

  test("starts a check that the source changed in between, which stays paused until then", async () => {
    using site = await installation();
    await site.write(checkOf(FIRST));
    const { id } = await imported(site, "--paused");
    await site.write(checkOf(FIRST, { desc: "Newer" }));
    expect((await imported(site)).counts).toEqual({ updated: 1 });
    expect(pausedRefs(site)).toEqual(["nightly-backup"]);
    await site.run(["import", "start", id ?? ""]);
    expect(pausedRefs(site)).toEqual([]);
  });

  test("starts what its import created, also after another one with --paused changed it", async () => {
    using site = await installation();
    await site.write(checkOf(FIRST));
    const { id } = await imported(site, "--paused");
    await site.write(checkOf(FIRST, { desc: "Newer" }));
    await imported(site, "--paused");
    expect(pausedRefs(site)).toEqual(["nightly-backup"]);
    await site.run(["import", "start", id ?? ""]);
    expect(pausedRefs(site)).toEqual([]);
  });

  test("says nothing of a monitor that a person has started already", async () => {
    using site = await installation();
    await site.write(checkOf(FIRST));
    const { id } = await imported(site, "--paused");
    const file = join(site.path, "all.yaml");
    const exported = (await site.run(["export"])).out.join("\n");
    await Bun.write(file, exported.replace("paused: true", "paused: false"));
    await site.run(["apply", file]);
    expect(pausedRefs(site)).toEqual([]);
    const { err } = await site.run(["import", "start", id ?? ""]);
    expect(err).toEqual([
      "Nothing was started: no monitor or webhook waits for the start of this import.",
    ]);
  });

  test("fails for an import that does not exist", async () => {
    using site = await installation();
    const { exitCode, err } = await site.run(["import", "start", "imp_1"]);
    expect([exitCode, err]).toEqual([1, ["There is no such import."]]);
  });
});

describe("allclear import list and show", () => {
  test("list imports newest first, and print the report of one", async () => {
    using site = await installation();
    expect((await site.run(["import", "list"])).out).toHaveLength(1);
    const first = await imported(site);
    await site.write(checkOf(THIRD, { name: "Third" }));
    const second = await imported(site, "--source", "other");
    const listed = jsonOf<{ id: string; source: object; counts: object }[]>(
      await site.run(["import", "list", "--json"]),
    );
    expect(listed.map(({ id, source, counts }) => ({ id, source, counts }))).toEqual([
      {
        id: second.id ?? "",
        source: { kind: "healthchecks", name: "other" },
        counts: second.counts,
      },
      {
        id: first.id ?? "",
        source: { kind: "healthchecks", name: "default" },
        counts: first.counts,
      },
    ]);
    const table = await site.run(["import", "list"]);
    expect(table.out[1]).toContain("Healthchecks (other)");
    expect(jsonOf<object>(await site.run(["import", "show", first.id ?? "", "--json"]))).toEqual(
      first,
    );
    const shown = await site.run(["import", "show", first.id ?? ""]);
    expect(shown.out.at(-1)).toBe("2 created, 1 changed.");
  });

  test("fail for an import, or a data directory, that does not exist", async () => {
    using site = await installation();
    const missing = await site.run(["import", "show", "imp_1"]);
    expect(missing).toMatchObject({ exitCode: 1, err: ["There is no import imp_1."] });
    const elsewhere = { ALLCLEAR_DATA_DIR: join(site.path, "nothing") };
    expect((await site.run(["import", "list"], elsewhere)).exitCode).toBe(1);
    expect(existsSync(elsewhere.ALLCLEAR_DATA_DIR)).toBe(false);
  });
});
