import { describe, expect, test } from "bun:test";
import { describeChange } from "../../../src/features/apply/run";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { findPageBySlug } from "../../../src/features/pages/store";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, linesOf } from "../../support/apply";
import { createMonitorApi } from "../../support/monitor-api";
import { MONITORS_FILE as FILE, readMonitors as read } from "../../support/monitors-file";

/** The ids of components by their refs. */
async function componentIds(app: TestApp): Promise<Record<string, string>> {
  const key = await app.keyWith("read:status");
  const lists = await Promise.all(
    ["acme", "other"].map((page) => app.call(`/api/v1/components?page=${page}`, { key })),
  );
  return Object.fromEntries(
    lists.flatMap(({ body }) =>
      body.data.map((one: { ref: string; id: string }) => [one.ref, one.id]),
    ),
  );
}

describe("monitors in a file", () => {
  test("monitors of a file are created below a component, for several on two pages, and for none", async () => {
    await using app = await createTestApp();
    const outcome = await apply(app, FILE);
    expect(linesOf(outcome).filter((line) => line.includes("monitor"))).toEqual([
      "+ monitor api-health",
      "+ monitor nightly-backup",
      "+ monitor db",
      "+ monitor certificate",
    ]);
    const { api = "", storefront = "", mail = "" } = await componentIds(app);
    expect(await read(app)).toMatchObject([
      {
        name: "API health",
        ref: "api-health",
        component_ids: [api],
        interval_seconds: 30,
        degraded_after_ms: 800,
        failure_threshold: 3,
        config: {
          url: "https://api.acme.example/health",
          method: "GET",
          assertions: [{ value: 204 }],
        },
        state: "pending",
      },
      {
        ref: "nightly-backup",
        component_ids: [api],
        config: { grace_seconds: 60 },
        failure_threshold: 1,
      },
      {
        ref: "db",
        component_ids: [api, storefront, mail],
        on_down: "major_outage",
        config: { port: 5432 },
      },
      { ref: "certificate", component_ids: [], paused: true, state: "paused" },
    ]);
  });

  test("applying monitors twice changes no version, event or audit entry", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const before = await read(app);
    const audited = app.audit().length;
    expect(await apply(app, FILE, true)).toMatchObject({ changes: [], leftovers: [] });
    expect(app.audit()).toHaveLength(audited);
    expect(await read(app)).toEqual(before);
  });

  test("apply changes differing fields of a monitor and resets omitted ones to their defaults", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const [health] = await read(app);
    const changed = FILE.replace("            interval_seconds: 30\n", "")
      .replace("/health", "/ready")
      .replace("components: [acme/api, other/mail]", "components: [acme/api]")
      .replace("paused: true, ", "");
    expect(linesOf(await apply(app, changed))).toEqual([
      '~ monitor api-health: interval_seconds 30 → 60, config.url "https://api.acme.example/health" → "https://api.acme.example/ready"',
      '~ monitor db: components ["acme/api","acme/storefront","other/mail"] → ["acme/api","acme/storefront"]',
      "~ monitor certificate: paused true → false",
    ]);
    const after = await read(app);
    expect(after[0]).toMatchObject({ id: health.id, interval_seconds: 60, degraded_after_ms: 800 });
    expect(after[3]).toMatchObject({ paused: false, state: "pending" });
  });

  test("a monitor with another ref or below another component stays the same monitor", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const before = await read(app);
    const moved = FILE.replace(
      "ref: db",
      "ref: postgres\n                previous_refs: [db]",
    ).replace("components: [acme/api, other/mail]", "components: []");
    expect(linesOf(await apply(app, moved))).toEqual([
      '~ monitor db: ref "db" → "postgres", components ["acme/api","acme/storefront","other/mail"] → ["acme/storefront"]',
    ]);
    const after = await read(app);
    expect(after.map(({ id }: { id: string }) => id)).toEqual(
      before.map(({ id }: { id: string }) => id),
    );
    expect(after[2].ref).toBe("postgres");
    expect((await apply(app, moved)).changes).toEqual([]);
  });

  test("monitors missing from the file stay until they are pruned, and only those of apply are", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("manage:monitors");
    const byHand = { type: "http", name: "By hand", config: { url: "https://x.example/" } };
    await app.call("/api/v1/monitors", { method: "POST", key, json: byHand });
    await apply(app, FILE);
    const smaller = FILE.slice(0, FILE.indexOf("monitors:\n  - { name: Certificate"));
    const kept = await apply(app, smaller);
    expect(kept).toMatchObject({ changes: [], leftovers: ["monitor certificate"] });
    expect(await read(app)).toHaveLength(5);
    const taken = `${smaller}monitors:\n  - { name: Other, ref: certificate2, type: push }\n`;
    expect(linesOf(await apply(app, taken, true))).toEqual([
      "- monitor certificate",
      "+ monitor certificate2",
    ]);
    await apply(app, "pages: []", true);
    expect((await read(app)).map(({ name }: { name: string }) => name)).toEqual(["By hand"]);
  });

  test("the exported file of a page contains the monitors of its components and applies without changes", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const page = findPageBySlug(app.ctx.db, { slug: "other" });
    const said = await app.ctx.db.write((tx) => exportFile(tx, { page }));
    expect(said).toEqual({
      pages: [
        {
          slug: "other",
          name: "Other",
          ref: "other",
          components: [
            {
              name: "Mail",
              ref: "mail",
              monitors: [
                {
                  name: "Database",
                  ref: "db",
                  type: "tcp",
                  on_down: "major_outage",
                  config: { host: "db.acme.example", port: 5432 },
                  components: ["acme/api", "acme/storefront"],
                },
              ],
            },
          ],
        },
      ],
    });
    expect((await apply(app, writeApplyFile(said, []))).changes).toEqual([]);
  });

  test("a monitor of a file can name its page by an earlier slug", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const renamed = FILE.replace("slug: other,", "slug: another, previous_slugs: [other],");
    expect(linesOf(await apply(app, renamed))).toEqual(['~ page other: slug "other" → "another"']);
  });

  test("a hand-made monitor with the ref of the file is changed and never pruned", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("manage:monitors");
    const json = { type: "push", name: "Nightly backup", config: {} };
    const { body } = await app.call("/api/v1/monitors", { method: "POST", key, json });
    expect(linesOf(await apply(app, FILE))).toContain(
      '~ monitor nightly-backup: interval_seconds 60 → 86400, components [] → ["acme/api"]',
    );
    await apply(app, "pages: []", true);
    expect((await read(app)).map(({ id }: { id: string }) => id)).toEqual([body.id]);
  });

  test("the token of a push monitor in a file is not shown until it is rotated", async () => {
    await using api = await createMonitorApi({ logLevel: "trace" });
    const { app } = api;
    const outcome = await apply(app, FILE);
    const lines = outcome.changes.map(describeChange);
    const output = JSON.stringify([outcome, lines, app.audit(), app.events(), app.logged]);
    expect(output).toContain("nightly-backup");
    expect(output).not.toMatch(/[0-9A-Za-z]{43}/);
    const push = (await read(app))[1];
    const { body } = await api.call(`/${push.id}/rotate-token`, { method: "POST" });
    const beat = () => app.call(`/api/v1/heartbeats/${body.token}`);
    expect((await beat()).status).toBe(200);
    // The token is nothing that a file says.
    expect((await apply(app, FILE)).changes).toEqual([]);
    expect((await beat()).status).toBe(200);
    expect(api.heartbeats.map(({ id }) => id)).toEqual([push.id, push.id]);
  });
});

describe("push monitors with a schedule in a file", () => {
  const PAGE = "pages: [{ slug: acme, name: Acme }]\n";
  const monitor = (rest: string) =>
    `${PAGE}monitors:\n  - { name: Backup, ref: backup, type: push, ${rest} }\n`;
  const SCHEDULE = "config: { schedule: 0 3 * * *, time_zone: Europe/Berlin }";

  test("a schedule is applied without an interval, exported alike, and applied again without a change", async () => {
    await using app = await createTestApp();
    await apply(app, monitor(SCHEDULE));
    const [backup] = await read(app);
    expect(backup).toMatchObject({
      interval_seconds: null,
      config: { schedule: "0 3 * * *", time_zone: "Europe/Berlin" },
    });
    const exported = writeApplyFile(exportFile(app.ctx.db), []);
    expect(exported).toContain("schedule: 0 3 * * *");
    expect(exported).not.toContain("interval_seconds");
    expect(linesOf(await apply(app, exported))).toEqual([]);
  });

  test("a file changes an interval to a schedule and back", async () => {
    await using app = await createTestApp();
    await apply(app, monitor("interval_seconds: 300"));
    expect(linesOf(await apply(app, monitor(SCHEDULE)))).not.toEqual([]);
    expect((await read(app))[0]).toMatchObject({ interval_seconds: null });
    await apply(app, monitor("interval_seconds: 300"));
    const [backup] = await read(app);
    expect(backup).toMatchObject({ interval_seconds: 300 });
    expect(backup.config).toEqual({ grace_seconds: 60 });
  });

  test.each([
    [
      "an interval beside a schedule",
      `interval_seconds: 60, ${SCHEDULE}`,
      "interval_seconds must be null, since the schedule tells when calls are due",
    ],
    [
      "an invalid schedule",
      "config: { schedule: 0 25 * * * }",
      "config.schedule has no valid hour",
    ],
    ["a time zone alone", "config: { time_zone: UTC }", "config.time_zone needs a schedule"],
  ])("a file with %s is rejected", async (_, rest, problem) => {
    await using app = await createTestApp();
    expect(() => apply(app, monitor(rest))).toThrow(`line 3: monitors[0].${problem}`);
    expect(await read(app)).toEqual([]);
  });
});
