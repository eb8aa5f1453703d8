import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { CLI_ACTOR, userActor } from "../../src/base/actor";
import { systemClock } from "../../src/base/clock";
import { writeConfig } from "../../src/base/config/load";
import type { ImportKind } from "../../src/base/import-report";
import { IMPORT_COMMAND } from "../../src/base/own-program";
import { createUser } from "../../src/features/users/users";
import { importInProcess, type ImportRequest, type ImportResult } from "../../src/imports/jobs";
import { type Installation, openForCommand } from "../../src/installation";
import { testConfig } from "../support/app";
import { executable, PROCESS_TEST_MS } from "../support/binary";
import { temporaryFolder } from "../support/temporary-folder";

setDefaultTimeout(8 * PROCESS_TEST_MS);

/** Maximum of a process that refuses a source, in bytes. The executable itself has 80 MB in memory. */
const REFUSAL_MAX_BYTES = 200_000_000;

/** Program that runs a command and prints how much memory it had. */
const PEAK_MEMORY = join(import.meta.dir, "..", "support", "processes", "peak-memory.ts");

/** Nine anchors of lists, each with nine aliases of the one before it: 9⁹ values. */
const BOMB = Array.from({ length: 9 }, (_, index) => {
  const items = Array.from({ length: 9 }, () => (index === 0 ? "x" : `*a${index - 1}`));
  return `a${index}: &a${index} [${items.join(", ")}]\n`;
}).join("");

/** Sources that would need much memory, and the reason for which each is refused. */
const HOSTILE: readonly (readonly [string, ImportKind, string, string])[] = [
  ["770 kB of brackets", "gatus", "[".repeat(770_000), "line 1: more than 100 maps and lists"],
  ["400,000 lists in lists", "gatus", "- ".repeat(400_000), "line 1: more than 100 maps and lists"],
  ["4 million commas", "gatus", `a: [${",".repeat(4_000_000)}]`, "more than 1,000,000 values"],
  ["2 million items", "gatus", "- a\n".repeat(2_000_000), "line 500001: the file has more than"],
  ["4 million lines", "gatus", `a: [${"\n".repeat(4_000_000)}]`, "more than 2,500,000 spaces"],
  ["an alias bomb", "gatus", `${BOMB}endpoints: *a8`, "aliases repeat more than 500,000 values"],
  ["a deep backup", "uptime-kuma", `{"a":${"[".repeat(700_000)}`, "nested deeper than 100 levels"],
  ["a deep answer", "healthchecks", `{"a":${"[".repeat(700_000)}`, "nested deeper than 100 levels"],
  ["a deep export", "statuspage", "[".repeat(700_000), "nested deeper than 100 levels"],
  [
    "an answer of 3 million objects",
    "healthchecks",
    `{"checks":[${"{},".repeat(3_000_000)}{}]}`,
    "more than 2,000,000 values",
  ],
  [
    "a backup of 3 million lists",
    "uptime-kuma",
    `{"monitorList":[${"[],".repeat(3_000_000)}[]]}`,
    "more than 2,000,000 values",
  ],
];

/** A configuration with many endpoints that share their settings by aliases, as people write them. */
function goodFile(count: number): string {
  const endpoints = Array.from(
    { length: count },
    (_, index) => `  - <<: *common
    name: service ${index}
    group: group ${index % 40}
    url: https://host${index}.example.org/health
    conditions: ["[STATUS] == 200", "[BODY].status == UP", "[RESPONSE_TIME] < 500"]
    alerts:
      - type: slack
        failure-threshold: 3
`,
  );
  return `alerting:
  slack:
    webhook-url: https://hooks.slack.com/services/T/B/C
x-common: &common
  interval: 1m
  method: GET
  headers: {Accept: application/json, X-Probe: allclear}
  client: {timeout: 5s, insecure: false}
endpoints:
${endpoints.join("")}`;
}

describe("the process of an import", () => {
  const folder = temporaryFolder();
  const file = join(folder.path, "source");
  let site: Installation;
  let author: ImportRequest["author"];

  beforeAll(async () => {
    const env = { ALLCLEAR_DATA_DIR: join(folder.path, "data"), ALLCLEAR_LOG_LEVEL: "silent" };
    site = openForCommand(testConfig(env), "test", { canCreate: true });
    const { ctx } = site;
    const user = { email: "ada@example.com", name: "Ada", role: "owner" } as const;
    const { id } = await ctx.db.write((tx) => createUser(ctx, tx, user, CLI_ACTOR));
    author = userActor({ id, name: "Ada" });
  });

  afterAll(() => {
    site.close();
    folder[Symbol.dispose]();
  });

  const requestFor = (kind: ImportKind): ImportRequest => ({
    kind,
    place: file,
    placeName: "source",
    values: {},
    options: {
      source: "default",
      isDryRun: true,
      isPaused: false,
      only: undefined,
      internalPage: "internal",
      takesDomains: false,
      historyDays: null,
    },
    author,
  });

  test.each(HOSTILE)("refuses %s (%s) in less than 200 MB", async (_, kind, text, reason) => {
    await Bun.write(file, text);
    const command = [process.execPath, PEAK_MEMORY, await executable(), IMPORT_COMMAND];
    const child = Bun.spawn(command, {
      env: { PATH: process.env.PATH ?? "" },
      cwd: folder.path,
      stdin: Buffer.from(`${writeConfig(site.ctx.config)}\n${JSON.stringify(requestFor(kind))}`),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [answer, peak] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(JSON.parse(answer) as ImportResult).toMatchObject({
      failure: { message: expect.stringContaining(reason) },
    });
    expect(peak.trim()).toMatch(/^\d+$/);
    expect(Number(peak)).toBeLessThan(REFUSAL_MAX_BYTES);
  });

  test("plans a configuration of 12,000 endpoints within its memory", async () => {
    await Bun.write(file, goodFile(12_000));
    const run = importInProcess({ ...site.ctx, clock: systemClock() });
    const result = await run(requestFor("gatus"), () => {}, new AbortController().signal);
    expect(result).toMatchObject({ report: { dry_run: true, counts: { created: 24_041 } } });
  });

  test("refuses more than 100,000 objects", async () => {
    await Bun.write(file, `endpoints:\n${"- a\n".repeat(100_001)}`);
    const run = importInProcess({ ...site.ctx, clock: systemClock() });
    const result = await run(requestFor("gatus"), () => {}, new AbortController().signal);
    const message = "The source has 100,002 objects; 100,000 is the most.";
    expect(result).toEqual({ failure: { message, fields: [] } });
  });

  test("is the one that the system ends first when memory is scarce", async () => {
    const pipe = join(folder.path, "pipe");
    Bun.spawnSync(["mkfifo", pipe]);
    const request = { ...requestFor("healthchecks"), place: pipe };
    const child = Bun.spawn([await executable(), IMPORT_COMMAND], {
      env: { PATH: process.env.PATH ?? "" },
      cwd: folder.path,
      stdin: Buffer.from(`${writeConfig(site.ctx.config)}\n${JSON.stringify(request)}`),
      stdout: "ignore",
      stderr: "ignore",
    });
    // Opens once the source is being read, which does not end until this is closed.
    const source = await open(pipe, "w");
    expect((await Bun.file(`/proc/${child.pid}/oom_score_adj`).text()).trim()).toBe("1000");
    await source.close();
    await child.exited;
  });

  test("is ended when it needs more memory than it may, and says so", async () => {
    await Bun.write(file, goodFile(2_000));
    const run = importInProcess({ ...site.ctx, clock: systemClock() }, 1024 * 1024);
    const request = requestFor("gatus");
    const { signal } = new AbortController();
    const said = JSON.stringify(await run(request, () => {}, signal));
    expect(said).toContain("needed more than 1 MiB of memory");
    expect(said).not.toContain("all but the history");
    const real = { ...request, options: { ...request.options, isDryRun: false } };
    const saidOfReal = JSON.stringify(await run(real, () => {}, signal));
    expect(saidOfReal).toContain("needed more than 1 MiB of memory");
    expect(saidOfReal).toContain("all but the history was imported: import again");
  });
});
