import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportReport } from "../../src/base/import-report";
import { installedCommandLine, jsonOf } from "../support/command-line";
import { dumpOf } from "../support/database-dump";
import {
  KUMA_VERSIONS,
  kumaFolder,
  type KumaVersion,
  pageOfFixture,
  readFixture,
  textsIn,
} from "../support/kuma-fixture";
import { importedSite, missingIn, shapeOf } from "../support/kuma-site";
import { usePingProgram } from "../support/ping-program";
import { temporaryFolder } from "../support/temporary-folder";
import { SECRET } from "./fixtures/uptime-kuma/objects";

/** A time after the fixtures were written. */
const NOW = Date.parse("2026-12-01T12:00:00.000Z");

/** Imports a fixture into an application whose checks succeed. */
const importFixture = async (version: KumaVersion) => importedSite(await readFixture(version), NOW);

describe.each(KUMA_VERSIONS)("an import of Uptime Kuma %s", (version) => {
  test("gives each object one verdict, and the second changes nothing", async () => {
    using _ping = usePingProgram("exit 0");
    await using site = await importFixture(version);
    const { found, report } = site;
    const keys = report.items.map(({ foreign }) => `${foreign.type}:${foreign.id}`);
    expect(new Set(keys).size).toBe(keys.length);
    const objects = [
      ...found.pages,
      ...found.groups,
      ...found.components,
      ...found.monitors,
      ...found.webhooks,
      ...found.maintenance,
      ...found.schedules,
      ...found.incidents,
      ...found.leftOut,
    ].map(({ foreign }) => `${foreign.type}:${foreign.id}`);
    expect(keys.toSorted()).toEqual([...objects, "internal page:internal"].toSorted());
    const refused = report.items.filter(
      ({ verdict, foreign }) =>
        verdict === "not_moved" &&
        !found.leftOut.some(
          (each) => each.foreign.id === foreign.id && each.foreign.type === foreign.type,
        ),
    );
    // Mail is not set up.
    expect(refused.map(({ foreign }) => foreign.name)).toEqual(["Mail", "Mail"]);
    // Its history is written after the objects, by the command.
    const { history: _history, ...objectsAlone } = found;
    const again = await site.importFound(objectsAlone);
    const changed = again.items.filter(({ verdict }) => !/^(unchanged|not_moved)$/.test(verdict));
    expect(changed).toEqual([]);
    expect(again.id).toBeNull();
  });

  test("tells nobody", async () => {
    using _ping = usePingProgram("exit 0");
    await using site = await importFixture(version);
    const sent = site.app.events().filter(({ data }) => data["notify"] !== false);
    expect(sent.filter(({ type }) => /^(incident|maintenance|monitor)\./.test(type))).toEqual([]);
    expect(site.app.audit().map(({ action }) => action)).toEqual(["import.run"]);
  });

  test("keeps addresses of jobs, numbers of badges and the page that clients read", async () => {
    using _ping = usePingProgram("exit 0");
    await using site = await importFixture(version);
    const { app, found } = site;
    const call = `/api/push/${SECRET}PushTokenOfTheBackup?status=up&msg=OK&ping=12`;
    expect(await app.call(call)).toMatchObject({ status: 200, body: { ok: true } });
    const backup = found.monitors.find(({ body }) => body.name === "Backup");
    const badge = await app.call(`/api/badge/${backup?.number}/status`);
    expect(badge.text).toContain("Up");
    const { body: page } = await app.call("/api/status-page/acme");
    const theirs = pageOfFixture(version);
    const named = ({ publicGroupList }: { publicGroupList: unknown[] }) =>
      publicGroupList.map((group) => {
        const { id, name, monitorList } = group as Record<string, unknown>;
        const entries = monitorList as { id: number; name: string; type: string }[];
        return { id, name, entries: entries.map((entry) => entry.name) };
      });
    expect(named(page)).toEqual(named(theirs));
    const numbersOf = ({
      publicGroupList,
    }: {
      publicGroupList: { monitorList: { id: number }[] }[];
    }) => publicGroupList.flatMap(({ monitorList }) => monitorList.map(({ id }) => id));
    // A monitor that stands twice on a page becomes two entries, which have numbers of their own.
    const ours = numbersOf(page);
    for (const [index, id] of numbersOf(theirs).entries()) {
      if (id !== 4) expect(ours[index]).toBe(id);
      else expect(ours[index]).toBeGreaterThanOrEqual(1_000_000);
    }
    // Tags, certificates and public addresses of entries are not told here.
    const { publicGroupList: _, ...rest } = theirs;
    expect(missingIn(shapeOf(page), shapeOf(rest))).toEqual(
      version === "1.23.17" ? [".incident.pin: boolean for number"] : [],
    );
    expect(page.config).toMatchObject({ slug: "acme", title: "Acme", theme: "auto" });
    const open = theirs.incidents ?? [theirs.incident];
    expect(
      page.incidents.map(({ id, title }: { id: number; title: string }) => [id, title]).toSorted(),
    ).toEqual(open.map(({ id, title }: { id: number; title: string }) => [id, title]).toSorted());
  });
});

test("the command imports a data directory of Uptime Kuma, and tells its secrets nowhere", async () => {
  using _ping = usePingProgram("exit 0");
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  const run = installedCommandLine(data);
  const written: string[] = [];
  const attempt = async (args: string[], input?: string[]) => {
    const env = { ALLCLEAR_LOG_LEVEL: "trace" };
    const outcome = await run(["import", "uptime-kuma", ...args], env, input);
    written.push(...outcome.out, ...outcome.err);
    return outcome;
  };
  using newer = kumaFolder("2.5.3");
  using older = kumaFolder("1.23.17");
  using backup = kumaFolder("1.23.17", "json");
  const file = join(folder.path, "report.json");
  await attempt([newer.path, "--dry-run"]);
  await attempt([newer.path, "--report", file], ["yes"]);
  const again = await attempt([newer.path, "--yes", "--json"]);
  expect(jsonOf<ImportReport>(again).counts["created"]).toBeUndefined();
  expect(again.err).toEqual(["Nothing to change."]);
  const other = await attempt([older.path, "--yes"]);
  expect(other.exitCode).toBe(1);
  expect(other.err.join()).toContain("was imported from another installation");
  await attempt([older.database, "--yes", "--source", "old", "--take-domains"]);
  await attempt([backup.path, "--yes", "--source", "backup", "--paused", "--json"]);
  const listed = await run(["import", "list", "--json"]);
  for (const { id } of JSON.parse(listed.out.join("\n")) as { id: string }[]) {
    for (const args of [
      ["show", id, "--json"],
      ["show", id],
      ["start", id],
    ]) {
      written.push(...(await run(["import", ...args])).out);
    }
  }
  written.push(...(await run(["export"])).out, readFileSync(file, "utf8"));
  const {
    audit_log: audited,
    events,
    imports,
    import_refs: refs,
  } = dumpOf(join(data, "allclear.db"));
  written.push(JSON.stringify([audited, events, imports, refs]));
  const text = written.join("\n");
  expect(text).toContain("Backup with retries");
  const secrets = textsIn((await readFixture("2.5.3")).monitors)
    .concat(textsIn((await readFixture("2.5.3")).webhooks))
    .filter((value) => value.includes(SECRET) || value.startsWith("Basic "));
  expect(secrets.length).toBeGreaterThan(30);
  expect(
    [SECRET, btoa(SECRET).slice(0, 6), ...secrets].filter((each) => text.includes(each)),
  ).toEqual([]);
  expect(text).not.toContain("PRIVATE KEY");
  // The password of the user, the key of the API and the secret of the source.
  expect(text).not.toContain("$2a$10$");
});
