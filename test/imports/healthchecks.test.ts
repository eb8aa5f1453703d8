import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findTokenOwner, ofPostOnly, tokensOf } from "../../src/features/monitors/tokens";
import { readHealthchecks } from "../../src/imports/healthchecks/read";
import { checkItems, checkOf, createImportSite, UUIDS, verdictsOf } from "../support/import-site";
import { temporaryFolder } from "../support/temporary-folder";

const [FIRST, SECOND, THIRD] = UUIDS;
/** Id that an answer to a read-only key has. */
const KEY = "a6c7b0a8a66bed0df66abfdab3c77736861703ee";

/** Imports one check into an empty installation. Returns its item and its monitor. */
async function importOne(fields: Record<string, unknown>, options: { pingKey?: string } = {}) {
  await using site = await createImportSite();
  const report = await site.import([checkOf(FIRST, fields)], options);
  const [monitor] = site.monitors();
  return { report, item: checkItems(report)[0], monitor };
}

/** Reads a file with the given text. */
async function readText(text: string) {
  using folder = temporaryFolder();
  const file = join(folder.path, "checks.json");
  await Bun.write(file, text);
  return await readHealthchecks(file, { pingKey: undefined });
}

describe("a check of Healthchecks", () => {
  test("becomes a push monitor with its name, tags, notes, interval and grace period", async () => {
    const { item, monitor } = await importOne({});
    expect(item).toMatchObject({ verdict: "created", changes: [], reason: null });
    expect(monitor).toMatchObject({
      type: "push",
      ref: "nightly-backup",
      name: "Nightly backup",
      tags: ["backup", "fs"],
      notes: "Copies everything",
      intervalSeconds: 3600,
      config: { grace_seconds: 600 },
      failureThreshold: 1,
      onDown: "major_outage",
      openIncident: "never",
      paused: false,
      managedBy: "import",
    });
  });

  test("is known by the id that Healthchecks shows to read-only keys", async () => {
    const { item } = await importOne({});
    expect(item?.foreign).toEqual({
      type: "check",
      // That of this UUID in the documentation of Healthchecks.
      id: "a6c7b0a8a66bed0df66abfdab3c77736861703ee",
      name: "Nightly backup",
    });
  });

  test("with a cron expression keeps its schedule and time zone", async () => {
    const fields = { timeout: undefined, schedule: "15 5 * * 1-5", tz: "Europe/Riga" };
    const { item, monitor } = await importOne(fields);
    expect(item?.verdict).toBe("created");
    expect(monitor).toMatchObject({
      intervalSeconds: null,
      paused: false,
      config: { grace_seconds: 600, schedule: "15 5 * * 1-5", time_zone: "Europe/Riga" },
    });
  });

  test.each([
    ["an OnCalendar expression of several lines", "02:00\n* * * * *", "UTC", "OnCalendar"],
    ["an OnCalendar expression of five words on lines", "* *\n* * *", "UTC", "OnCalendar"],
    ["an OnCalendar expression with seconds", "02:00:30", "UTC", "OnCalendar"],
    ["an OnCalendar expression with a year", "2027-*-* 02:00", "UTC", "OnCalendar"],
    ["an OnCalendar expression with days of both kinds", "Fri *-*-13 02:00", "UTC", "OnCalendar"],
    ["an OnCalendar expression that is not valid", "Mon *-*-* 25:00", "UTC", "OnCalendar"],
    ["an OnCalendar expression of every other day", "*-*-*/2 02:00", "UTC", "OnCalendar"],
    ["an OnCalendar expression of a word", "sometimes", "UTC", "OnCalendar"],
    ["a cron expression that is not known", "99 5 * * *", "UTC", "cron expression"],
    ["a time zone that is not known", "15 5 * * *", "Mars/Base", "time zone"],
  ])("with %s is switched off and says why", async (_name, schedule, tz, word) => {
    const { item, monitor } = await importOne({ timeout: undefined, schedule, tz });
    expect(item?.verdict).toBe("disabled");
    expect(item?.reason).toContain(word);
    expect(item?.changes).toMatchObject([{ field: "schedule", to: null }]);
    expect(monitor).toMatchObject({ paused: true, intervalSeconds: null });
    expect(monitor?.config).toEqual({ grace_seconds: 600 });
  });

  test.each([
    ["Mon..Fri 02:00", "0 2 * * 1,2,3,4,5"],
    ["Mon,Wed *-*-* 02:00", "0 2 * * 1,3"],
    ["Sat..Mon *-*-* 23:30:00", "30 23 * * 0,1,6"],
    ["Mon..Sun 02:00", "0 2 * * *"],
    ["wednesday", "0 0 * * 3"],
    ["02:00", "0 2 * * *"],
    ["*:0/15", "0-59/15 * * * *"],
    ["*:*/10", "0-59/10 * * * *"],
    ["8..18/2:30", "30 8-18/2 * * *"],
    ["*-*-1,15 4:05", "5 4 1,15 * *"],
    ["12-24 18:00", "0 18 24 12 *"],
    ["*-1/3-01 06:00", "0 6 1 1-12/3 *"],
    ["*-*~01 23:00", "0 23 L * *"],
    ["Sun *-*-8..14 02:00", "0 2 * * 0#2"],
    ["weekly", "0 0 * * 1"],
    ["Quarterly", "0 0 1 1,4,7,10 *"],
  ])("with the OnCalendar expression %s has the schedule %s", async (schedule, cron) => {
    const { item, monitor } = await importOne({ timeout: undefined, schedule, tz: "Europe/Riga" });
    expect(item).toMatchObject({ verdict: "changed", changes: [{ field: "schedule", to: cron }] });
    expect(monitor?.config).toMatchObject({ schedule: cron, time_zone: "Europe/Riga" });
    expect(monitor?.paused).toBe(false);
  });

  test("with a time zone in its OnCalendar expression has that one", async () => {
    const fields = { timeout: undefined, schedule: "*-*-* 02:00 Europe/Berlin", tz: "UTC" };
    const { monitor } = await importOne(fields);
    expect(monitor?.config).toMatchObject({ schedule: "0 2 * * *", time_zone: "Europe/Berlin" });
  });

  test("with a nickname as its schedule keeps it", async () => {
    const { item, monitor } = await importOne({ timeout: undefined, schedule: "@daily" });
    expect(item?.verdict).toBe("created");
    expect(monitor?.config).toMatchObject({ schedule: "@daily" });
  });

  test("with neither a timeout nor a schedule is switched off", async () => {
    const { item, monitor } = await importOne({ timeout: undefined });
    expect(item).toMatchObject({ verdict: "disabled" });
    expect(item?.reason).toContain("neither a timeout nor a schedule");
    expect(monitor).toMatchObject({ paused: true, intervalSeconds: null });
  });

  test.each(["filter_subject", "filter_body"])("with %s is switched off", async (field) => {
    const { item, monitor } = await importOne({ [field]: true, success_kw: "OK" });
    expect(item).toMatchObject({ verdict: "disabled" });
    expect(item?.reason).toContain("e-mail");
    expect(monitor?.paused).toBe(true);
  });

  test.each([
    [{ failure_kw: "ERROR" }, { failure: ["ERROR"] }],
    [{ success_kw: "OK, done,,OK" }, { success: ["OK", "done"] }],
    [
      { start_kw: "BEGIN", success_kw: "END", filter_default_fail: true },
      { start: ["BEGIN"], success: ["END"], otherwise: "fail" },
    ],
  ])("whose calls have their meaning in the body keeps its words: %o", async (fields, words) => {
    const { item, monitor } = await importOne({ filter_http_body: true, ...fields });
    expect(item).toMatchObject({ verdict: "created", changes: [] });
    expect(monitor).toMatchObject({ paused: false, config: { body_words: words } });
  });

  test("whose calls have their meaning in the body and no words is switched off", async () => {
    const { item, monitor } = await importOne({ filter_http_body: true });
    expect(item).toMatchObject({ verdict: "disabled" });
    expect(item?.reason).toContain("no words");
    expect(monitor?.paused).toBe(true);
  });

  test("keeps its words beside a schedule that is switched off, and beside calls by e-mail", async () => {
    const fields = { filter_http_body: true, filter_subject: true, success_kw: "OK" };
    const { item, monitor } = await importOne({ ...fields, timeout: undefined, schedule: "often" });
    expect(item?.reason).toContain("e-mail");
    expect(item?.reason).toContain("OnCalendar");
    expect(monitor?.config).toMatchObject({ body_words: { success: ["OK"] } });
  });

  test("that is paused until a person resumes it is paused", async () => {
    const { item, monitor } = await importOne({ status: "paused", manual_resume: true });
    expect(item).toMatchObject({ verdict: "created", changes: [] });
    expect(monitor?.paused).toBe(true);
  });

  test("that is paused until a call is paused, and the difference is named", async () => {
    const { item, monitor } = await importOne({ status: "paused" });
    expect(item).toMatchObject({ verdict: "changed", changes: [{ field: "manual_resume" }] });
    expect(monitor?.paused).toBe(true);
  });

  test("that was never called waits for its first call, and the difference is named", async () => {
    const { item, monitor } = await importOne({ status: "new" });
    expect(item).toMatchObject({ verdict: "changed", changes: [{ field: "status", from: "new" }] });
    expect(monitor?.paused).toBe(false);
  });

  test.each(["up", "down", "grace", "started"])("with the status %s is active", async (status) => {
    const { item, monitor } = await importOne({ status });
    expect(item).toMatchObject({ verdict: "created", changes: [] });
    expect(monitor?.paused).toBe(false);
  });

  test("that takes POST alone is called by POST alone", async () => {
    await using site = await createImportSite();
    const report = await site.import([checkOf(FIRST, { methods: "POST" })], {
      pingKey: "pqrstuvwxyz0123456789A",
    });
    expect(checkItems(report)).toMatchObject([{ verdict: "created", changes: [] }]);
    const [monitor] = site.monitors();
    for (const value of [FIRST, "pqrstuvwxyz0123456789A/nightly-backup"]) {
      const token = { kind: "healthchecks", value } as const;
      expect(findTokenOwner(site.app.ctx.db, token)).toBeUndefined();
      expect(findTokenOwner(site.app.ctx.db, ofPostOnly(token))?.monitorId).toBe(monitor?.id ?? "");
    }
  });

  test("with an unknown list of methods is changed, since calls with every method count", async () => {
    const { item } = await importOne({ methods: "PUT" });
    expect(item).toMatchObject({
      verdict: "changed",
      changes: [{ field: "methods", from: "PUT", to: "" }],
    });
  });

  test("with addresses in its texts shows none of them, and keeps them in its notes", async () => {
    const address = `https://hc-ping.test/${SECOND.toUpperCase()}/fail`;
    const bare = SECOND.replaceAll("-", "");
    const { report, monitor } = await importOne(
      {
        name: `Job ${address}`,
        tags: Array.from({ length: 21 }, (_, index) => `${index}${bare}`).join(" "),
        desc: `${address} my-ping-key ${"x".repeat(1_000)}`,
        slug: `my-ping-key ${SECOND}`,
        methods: SECOND,
        schedule: bare,
        ping_url: `https://hc-ping.test/my-ping-key/${SECOND}`,
        [SECOND]: 1,
      },
      { pingKey: "my-ping-key" },
    );
    expect(monitor?.name).toBe("Job https://hc-ping.test/[redacted]/fail");
    expect(monitor?.notes).toStartWith(address);
    const text = JSON.stringify([report, monitor?.ref]);
    expect(text.toLowerCase()).not.toMatch(/803f680d|my-ping-key/);
    expect(checkItems(report)[0]?.changes.map(({ field }) => field)).toEqual([
      "name",
      "tags",
      "desc",
      "schedule",
      "methods",
      "slug",
    ]);
  });

  test("without a name gets one", async () => {
    const { item, monitor } = await importOne({ name: "" });
    expect(item).toMatchObject({ verdict: "changed", changes: [{ field: "name", from: "" }] });
    expect(item?.foreign.name).toBe("Unnamed check");
    expect(monitor?.name).toBe("Unnamed check");
  });

  test("with more tags and a longer description than fit is cut, and both are named", async () => {
    const tags = Array.from({ length: 30 }, (_, index) => `t${index}`).join(" ");
    const { item, monitor } = await importOne({ tags, desc: "ä".repeat(1_500) });
    expect(item?.changes.map(({ field }) => field)).toEqual(["tags", "desc"]);
    expect(monitor?.tags).toHaveLength(20);
    expect(monitor?.notes).toBe("ä".repeat(1_000));
  });

  test.each([
    ["a grace period that is no number", { grace: "soon" }, "held", "grace"],
    ["a timeout of more than a year", { timeout: 31_536_001 }, "held", "timeout"],
    ["a timeout shorter than monitors have", { timeout: 2 }, "disabled", "interval_seconds"],
    ["a name that is no text", { name: 5 }, "held", "name"],
    ["a ping URL without a UUID", { ping_url: "https://hc-ping.test/" }, "disabled", "ping URL"],
    [
      "the fields of a read-only key",
      { ping_url: undefined, uuid: undefined, unique_key: KEY },
      "disabled",
      "ping URL",
    ],
  ])("with %s is kept and switched off, with its reason", async (_name, fields, verdict, word) => {
    await using site = await createImportSite();
    const report = await site.import([checkOf(FIRST, fields), checkOf(SECOND, { name: "Other" })]);
    const [item] = checkItems(report).filter(({ target }) => target?.name !== "Other");
    expect(item).toMatchObject({ verdict });
    expect(item?.reason).toContain(word);
    const monitor = site.monitors().find(({ id }) => id === item?.target?.id);
    expect(monitor?.paused).toBe(true);
    expect(tokensOf(site.app.ctx.db, monitor?.id ?? "")).toHaveLength(
      verdict === "held" || word === "ping URL" ? 0 : 1,
    );
    // No address that jobs call is stored in plain text.
    expect(JSON.stringify(monitor?.config)).not.toContain(FIRST);
    expect(
      (await site.import([checkOf(FIRST, fields), checkOf(SECOND, { name: "Other" })])).counts,
    ).toEqual({ unchanged: 2 });
  });

  test("goes on to be called with its UUID, and has no generated token", async () => {
    await using site = await createImportSite();
    await site.import([checkOf(FIRST.toUpperCase())]);
    const [monitor] = site.monitors();
    const { db } = site.app.ctx;
    const owner = findTokenOwner(db, { kind: "healthchecks", value: FIRST });
    expect(owner?.monitorId).toBe(monitor?.id ?? "");
    expect(tokensOf(db, monitor?.id ?? "").map(({ kind }) => kind)).toEqual(["healthchecks"]);
  });
});

describe("addresses with a ping key and a slug", () => {
  const pingKey = "pqrstuvwxyz0123456789A";
  const ownerOf = (site: Awaited<ReturnType<typeof createImportSite>>, slug: string) =>
    findTokenOwner(site.app.ctx.db, { kind: "healthchecks", value: `${pingKey}/${slug}` });

  test("are taken over with --ping-key", async () => {
    await using site = await createImportSite();
    const report = await site.import([checkOf(FIRST)], { pingKey });
    expect(ownerOf(site, "nightly-backup")?.monitorId).toBe(site.monitors()[0]?.id ?? "");
    expect(report.to_do.join()).not.toContain("import again");
  });

  test("are added by a later import with --ping-key, which the first one asks for", async () => {
    await using site = await createImportSite();
    const first = await site.import([checkOf(FIRST)]);
    expect(first.to_do.join()).toContain("import again with the ping key");
    expect(ownerOf(site, "nightly-backup")).toBeUndefined();
    const second = await site.import([checkOf(FIRST)], { pingKey });
    expect(second.counts).toEqual({ updated: 1 });
    expect(ownerOf(site, "nightly-backup")).toBeDefined();
    expect((await site.import([checkOf(FIRST)], { pingKey })).counts).toEqual({ unchanged: 1 });
    expect((await site.import([checkOf(FIRST)])).counts).toEqual({ unchanged: 1 });
    expect(ownerOf(site, "nightly-backup")).toBeDefined();
  });

  test("are not added to a monitor that was edited here, which is said", async () => {
    await using site = await createImportSite();
    await site.import([checkOf(FIRST)]);
    const key = await site.app.keyWith("manage:monitors");
    const path = `/api/v1/monitors/${site.monitors()[0]?.id}`;
    await site.app.call(path, { method: "PATCH", key, json: { notes: "Ours" } });
    const report = await site.import([checkOf(FIRST)], { pingKey });
    expect(checkItems(report)).toMatchObject([
      { verdict: "kept", reason: expect.stringContaining("no other address") },
    ]);
    expect(ownerOf(site, "nightly-backup")).toBeUndefined();
    expect(verdictsOf(await site.import([checkOf(FIRST)]))).toEqual(["unchanged"]);
  });

  test("are not taken over for a slug that several checks have, or that is not valid", async () => {
    await using site = await createImportSite();
    const checks = [checkOf(FIRST), checkOf(SECOND), checkOf(THIRD, { slug: "a/b" })];
    const report = await site.import(checks, { pingKey });
    expect(checkItems(report).map(({ changes }) => changes.map(({ field }) => field))).toEqual([
      ["slug"],
      ["slug"],
      ["slug"],
    ]);
    expect(ownerOf(site, "nightly-backup")).toBeUndefined();
    expect(ownerOf(site, "a/b")).toBeUndefined();
  });
});

describe("an answer of Healthchecks", () => {
  test("names each integration once, as not moved", async () => {
    await using site = await createImportSite();
    const [one, two] = ["1bdea468-03bf-47b8-ab27-29a9dd0e4b94", "746a083e-f542-4554-be1a"];
    const report = await site.import([
      checkOf(FIRST, { channels: `${one},${two}` }),
      checkOf(SECOND, { channels: one }),
    ]);
    const integrations = report.items.filter(({ foreign }) => foreign.type === "integration");
    expect(integrations.map(({ foreign, verdict }) => [foreign.name, verdict])).toEqual([
      ["Integration 1 of 2 checks", "not_moved"],
      ["Integration 2 of 1 check", "not_moved"],
    ]);
  });

  test("names fields that this version does not know", async () => {
    await using site = await createImportSite();
    const report = await site.import([checkOf(FIRST, { new_one: 1 }), checkOf(SECOND, { b: {} })]);
    expect(report.not_read).toEqual(["checks[].b", "checks[].new_one"]);
  });

  test("has every field of a check as read or as ignored", async () => {
    await using site = await createImportSite();
    expect((await site.import([checkOf(FIRST)])).not_read).toEqual([]);
  });

  test("of an older version with few fields is imported", async () => {
    await using site = await createImportSite();
    const ping_url = `https://hc-ping.test/${FIRST}`;
    const report = await site.import([{ name: "Job", ping_url, timeout: 60 }]);
    expect(report.counts).toEqual({ created: 2 });
  });

  test("to a read-only key is refused with the reason", async () => {
    const check = checkOf(FIRST, { ping_url: undefined, uuid: undefined, unique_key: "a6c7" });
    const answer = readText(JSON.stringify({ checks: [check] }));
    await expect(answer).rejects.toThrow("read-only key");
  });

  test.each([
    ["no JSON", "checks"],
    ["an empty file", ""],
    ["a list", "[]"],
    ["null", "null"],
    ["an error of the API", '{"error": "wrong api key"}'],
    ["checks that are no list", '{"checks": {}}'],
  ])("that is %s is refused", async (_name, text) => {
    await expect(readText(text)).rejects.toThrow("is no answer of Healthchecks");
  });

  test("that does not exist or is a directory is refused", async () => {
    using folder = temporaryFolder();
    const options = { pingKey: undefined };
    const missing = join(folder.path, "missing.json");
    await expect(readHealthchecks(missing, options)).rejects.toThrow("There is no file");
    await expect(readHealthchecks(folder.path, options)).rejects.toThrow("is a directory");
  });
});
