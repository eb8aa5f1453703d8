import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { listMaintenance } from "../../../src/features/maintenance/records";
import { listSchedules } from "../../../src/features/maintenance/schedules/store";
import { presentSchedule } from "../../../src/features/maintenance/schedules/wire";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, applyError, lineOf, linesOf } from "../../support/apply";
import { createSchedule } from "../../support/examined";

const PAGES = `pages:
  - slug: acme
    name: Acme
    time_zone: Europe/Berlin
    components:
      - { name: API }
      - { name: Web }
  - slug: other
    name: Other
    components:
      - { name: Mirror }
`;

const FILE = `${PAGES}maintenance_schedules:
  - name: Nightly restart
    page: acme
    body: A minute without it.
    components: [web, api]
    cron: 0 2 * * *
    duration_minutes: 30
  - name: Backup
    page: other
    body: |
      First line.

      - a list
    cron: 30 1 * * SUN#1
    duration_minutes: 90
    time_zone: America/New_York
    every_days: 2
    starts_on: "2026-03-10"
    ends_on: "2026-12-31"
    remind_minutes_before: null
    enabled: false
`;

const read = ({ ctx }: TestApp) => listSchedules(ctx.db).map(presentSchedule);
const exported = ({ ctx }: TestApp) => ctx.db.write((tx) => exportFile(tx));
const scheduleLines = (lines: string[]) => lines.filter((line) => line.includes("schedule"));
const occurrences = ({ ctx }: TestApp) =>
  listMaintenance(ctx.db, { limit: 100 }).map(({ page, row }) => `${page.slug} ${row.name}`);

describe("maintenance schedules in a file", () => {
  test("are created with their occurrences, and applying the file again changes nothing", async () => {
    await using app = await createTestApp();
    expect(scheduleLines(linesOf(await apply(app, FILE)))).toEqual([
      "+ maintenance schedule nightly-restart",
      "+ maintenance schedule backup",
    ]);
    expect(read(app)).toMatchObject([
      { ref: "backup", page: "other", every_days: 2, enabled: false, remind_minutes_before: null },
      {
        ref: "nightly-restart",
        page: "acme",
        components: [{ name: "API" }, { name: "Web" }],
        time_zone: "Europe/Berlin",
        remind_minutes_before: 60,
        enabled: true,
      },
    ]);
    expect(occurrences(app)).toEqual(Array.from({ length: 30 }, () => "acme Nightly restart"));
    const before = occurrences(app);
    expect(linesOf(await apply(app, FILE))).toEqual([]);
    expect(occurrences(app)).toEqual(before);
  });

  test("are exported without defaults, and the export changes nothing", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const file = await exported(app);
    expect(file.maintenance_schedules).toEqual([
      {
        name: "Nightly restart",
        ref: "nightly-restart",
        page: "acme",
        body: "A minute without it.",
        cron: "0 2 * * *",
        duration_minutes: 30,
        components: ["api", "web"],
      },
      {
        name: "Backup",
        ref: "backup",
        page: "other",
        body: "First line.\n\n- a list\n",
        cron: "30 1 * * SUN#1",
        duration_minutes: 90,
        time_zone: "America/New_York",
        every_days: 2,
        starts_on: "2026-03-10",
        ends_on: "2026-12-31",
        remind_minutes_before: null,
        enabled: false,
      },
    ]);
    expect(linesOf(await apply(app, writeApplyFile(file, ["Exported"])))).toEqual([]);
  });

  test("are changed, renamed by an earlier ref, and moved to another page", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const changed = FILE.replace("duration_minutes: 30", "duration_minutes: 45")
      .replace("name: Nightly restart\n", "name: Restart\n    previous_refs: [nightly-restart]\n")
      .replace("page: acme\n    body: A", "page: other\n    body: A")
      .replace("[web, api]", "[mirror]");
    expect(scheduleLines(linesOf(await apply(app, changed)))).toEqual([
      '~ maintenance schedule nightly-restart: name "Nightly restart" → "Restart", ref "nightly-restart" → "restart", duration_minutes 30 → 45, time_zone "Europe/Berlin" → "UTC", components ["api","web"] → ["mirror"], page "acme" → "other"',
    ]);
    expect(occurrences(app)).toEqual(Array.from({ length: 30 }, () => "other Restart"));
    expect(linesOf(await apply(app, changed))).toEqual([]);
  });

  test("that the file no longer has are listed, and deleted by a prune unless people made them", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    await app.ctx.db.write((tx) =>
      createSchedule(
        app.ctx,
        tx,
        { page: "acme", name: "Own", body: "B", cron: "0 5 * * *", duration_minutes: 5 },
        CLI_ACTOR,
      ),
    );
    const kept = await apply(app, PAGES);
    expect(kept.leftovers).toEqual([
      "maintenance schedule backup",
      "maintenance schedule nightly-restart",
    ]);
    expect(read(app)).toHaveLength(3);
    await apply(app, PAGES, true);
    expect(read(app).map(({ ref }) => ref)).toEqual(["own"]);
    expect(new Set(occurrences(app))).toEqual(new Set(["acme Own"]));
  });

  test("of a page that the file no longer has end with the page, or move to another one", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const [acme, other] = PAGES.split("  - slug: other\n");
    const only = `${acme}maintenance_schedules:
  - { name: Backup, page: acme, body: B, cron: 0 4 * * *, duration_minutes: 5 }
`;
    expect(other).toContain("Mirror");
    const lines = linesOf(await apply(app, only, true));
    expect(lines).toContain("- page other");
    expect(read(app)).toMatchObject([{ ref: "backup", page: "acme" }]);
    expect(new Set(occurrences(app))).toEqual(new Set(["acme Backup"]));
  });

  test.each([
    ["cron: 0 2 * * *", "cron: 0 24 * * *", "has no valid hour: 24"],
    ["[web, api]", "[web, nothing]", "is not the ref of a component of the page acme: nothing"],
    ["page: acme\n    body", "page: nowhere\n    body", "is not the slug of a page: nowhere"],
    ["duration_minutes: 30", "duration_minutes: 1500", "is longer than the 1440 minutes"],
    ["time_zone: America/New_York", "time_zone: Mars/Base", "must be a time zone"],
    ['starts_on: "2026-03-10"', 'starts_on: "2026-02-30"', "must be a day of the calendar"],
  ])("are refused with the line of the fault: %s → %s", async (from, to, detail) => {
    await using app = await createTestApp();
    const text = FILE.replace(from, to);
    const error = await applyError(app, text);
    expect(error).toStartWith(`line ${lineOf(text, to)}: `);
    expect(error).toContain(detail);
    expect(read(app)).toEqual([]);
  });
});
