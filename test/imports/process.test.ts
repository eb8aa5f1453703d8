import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { CLI_ACTOR, userActor } from "../../src/base/actor";
import { writeConfig } from "../../src/base/config/load";
import { IMPORT_COMMAND, ownProgram } from "../../src/base/own-program";
import { tryImportLock } from "../../src/db/data-directory";
import { listStoredMonitors } from "../../src/features/monitors/declared";
import { createUser, disableUser } from "../../src/features/users/users";
import { importInProcess, type ImportRequest } from "../../src/imports/jobs";
import { type Installation, openForCommand } from "../../src/installation";
import { testConfig } from "../support/app";
import { PROCESS_TEST_MS } from "../support/binary";
import { answerOf } from "../support/import-dashboard";
import { checkOf, UUIDS } from "../support/import-site";
import { temporaryFolder } from "../support/temporary-folder";

setDefaultTimeout(PROCESS_TEST_MS);

const NEVER = new AbortController().signal;

describe("an import in another process", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let site: Installation;
  let request: ImportRequest;
  const users: string[] = [];

  beforeAll(async () => {
    folder = temporaryFolder();
    // The server's own options, which the other process gets.
    const env = {
      ALLCLEAR_DATA_DIR: folder.path,
      ALLCLEAR_LOG_LEVEL: "silent",
      ALLCLEAR_OUTBOUND_ALLOW: "10.0.0.0/8",
      ALLCLEAR_DOCKER_HOSTS: "local=unix:///run/docker.sock",
    };
    site = openForCommand(testConfig(env), "test", { canCreate: true });
    const { ctx } = site;
    for (const name of ["Ada", "Grace"]) {
      const user = { email: `${name}@example.com`, name, role: "owner" } as const;
      users.push((await ctx.db.write((tx) => createUser(ctx, tx, user, CLI_ACTOR))).id);
    }
    await Bun.write(join(folder.path, "checks.json"), answerOf(checkOf(UUIDS[0])));
    request = {
      kind: "healthchecks",
      place: join(folder.path, "checks.json"),
      placeName: "checks.json",
      values: { ping_key: "key-of-twenty-two-char" },
      options: {
        source: "default",
        isDryRun: false,
        isPaused: false,
        only: undefined,
        internalPage: "internal",
        takesDomains: false,
        historyDays: null,
      },
      author: userActor({ id: users[0] ?? "", name: "Ada" }, "203.0.113.7"),
    };
  });

  afterAll(() => {
    site.close();
    folder[Symbol.dispose]();
  });

  const run = (changed: Partial<ImportRequest> = {}, signal = NEVER) =>
    importInProcess(site.ctx)({ ...request, ...changed }, () => {}, signal);
  const failureOf = async (result: ReturnType<typeof run>) => {
    const answer = await result;
    return "failure" in answer ? answer.failure.message : undefined;
  };
  const monitors = () => listStoredMonitors(site.ctx.db).map(({ row }) => row.name);

  test("plans without writing", async () => {
    const result = await run({ options: { ...request.options, isDryRun: true } });
    expect(result).toMatchObject({ report: { id: null, dry_run: true, counts: { created: 2 } } });
    expect(monitors()).toEqual([]);
  });

  test("answers with the reason for which a source cannot be read", async () => {
    const missing = join(folder.path, "no.json");
    expect(await failureOf(run({ place: missing }))).toBe(`There is no file ${missing}.`);
  });

  test("is refused while another process imports, and plans meanwhile", async () => {
    const lock = tryImportLock(site.directory);
    try {
      expect(await failureOf(run())).toBe("Another import is running. Wait until it has ended.");
      const plan = await run({ options: { ...request.options, isDryRun: true } });
      expect(plan).toHaveProperty("report");
    } finally {
      lock?.release();
    }
    expect(monitors()).toEqual([]);
  });

  test("is refused for a user who is no owner any more", async () => {
    const { ctx } = site;
    await ctx.db.write((tx) => disableUser(ctx, tx, users[1] ?? "", CLI_ACTOR));
    const author = userActor({ id: users[1] ?? "", name: "Grace" });
    expect(await failureOf(run({ author }))).toStartWith("Only owners import");
    expect(monitors()).toEqual([]);
  });

  test("is killed when it is no longer wanted", async () => {
    const aborted = new AbortController();
    // Never ends, since nobody writes into the pipe.
    Bun.spawnSync(["mkfifo", join(folder.path, "pipe")]);
    const result = run({ place: join(folder.path, "pipe") }, aborted.signal);
    setImmediate(() => aborted.abort());
    expect(await failureOf(result)).toStartWith("The import broke off.");
    expect(await failureOf(run({}, AbortSignal.abort()))).toStartWith("The import broke off.");
  });

  test("ends after a server that was killed", async () => {
    const pipe = join(folder.path, "pipe-of-killed");
    Bun.spawnSync(["mkfifo", pipe]);
    const file = join(folder.path, "request");
    const sent = JSON.stringify({ ...request, place: pipe });
    await Bun.write(file, `${writeConfig(site.ctx.config)}\n${sent}`);
    const server = Bun.spawn(
      ["sh", "-c", '"$@" < "$0" & wait', file, ...ownProgram(), IMPORT_COMMAND],
      { cwd: folder.path, stdout: "pipe", stderr: "ignore" },
    );
    // Opens once the source is being read, which does not end until this is closed.
    const source = await open(pipe, "w");
    server.kill("SIGKILL");
    // Ends when both processes have ended.
    expect(await new Response(server.stdout).text()).toBe("");
    await source.close();
    expect(monitors()).toEqual([]);
  });

  test("writes in the name of its user", async () => {
    const result = await run();
    expect(result).toMatchObject({ report: { dry_run: false, counts: { created: 2 } } });
    expect(monitors()).toEqual(["Nightly backup"]);
  });
});
