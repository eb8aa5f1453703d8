import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { listCommands } from "../../../../src/cli/main";
import { type AuditRow, listNewestAudits } from "../../../../src/events/audit-search";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { createSecret } from "../../../../src/features/auth/totp";
import { turnOnSecondFactor } from "../../../../src/features/users/second-factors";
import { listUsers } from "../../../../src/features/users/users";
import { openForCommand } from "../../../../src/installation";
import { testConfig } from "../../../support/app";
import { type CommandLine, installedCommandLine, jsonOf } from "../../../support/command-line";
import { checkOf, UUIDS } from "../../../support/import-site";
import { kumaFolder } from "../../../support/kuma-fixture";
import { codeAt } from "../../../support/second-factors";
import { documentsOf } from "../../../support/statuspage";
import { temporaryFolder } from "../../../support/temporary-folder";

const FILE = `
pages:
  - slug: acme
    name: Acme
    groups:
      - name: Core
        components:
          - name: API
            monitors:
              - { name: Port, type: tcp, config: { host: a.example.com, port: 80 } }
`;
const CHANGED = FILE.replace("name: Acme", "name: Acme 2").replace("name: API", "name: Web");

/** Saved answers of other products. */
const FIXTURES = join(import.meta.dir, "../../../imports/fixtures");

/** A data directory, the commands on it, and what they left in the log, the first entry first. */
function installation() {
  const folder = temporaryFolder();
  const env = { ALLCLEAR_DATA_DIR: folder.path, ALLCLEAR_LOG_LEVEL: "silent" };
  return {
    path: folder.path,
    run: installedCommandLine(folder.path),
    entries(): AuditRow[] {
      const data = openForCommand(testConfig(env), "test", { canCreate: false });
      try {
        return listNewestAudits(data.ctx.db, { limit: 1_000 }).toReversed();
      } finally {
        data.close();
      }
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** Turns on the second factor of the only user of a data directory. */
async function turnOnIn(path: string): Promise<void> {
  const env = { ALLCLEAR_DATA_DIR: path, ALLCLEAR_LOG_LEVEL: "silent" };
  const { ctx, close } = openForCommand(testConfig(env), "test", { canCreate: false });
  const [user] = listUsers(ctx.db);
  const secret = createSecret(ctx.random);
  const change = { userId: user?.id ?? "", secret, code: codeAt(secret, ctx.clock.now()) };
  await ctx.db.write((tx) => turnOnSecondFactor(ctx, tx, change, CLI_ACTOR, -1));
  close();
}

async function keyId(run: CommandLine): Promise<string> {
  const made = ["key", "create", "--name", "CI", "--scope", "read:status", "--json"];
  return jsonOf<{ id: string }>(await run(made)).id;
}

/** Makes the page of the file. */
async function page(run: CommandLine, folder: string): Promise<void> {
  const file = join(folder, "page.yaml");
  await Bun.write(file, FILE);
  await run(["apply", file]);
}

/** Writes the file of an import, and returns its arguments. */
async function importArgs(folder: string): Promise<string[]> {
  const file = join(folder, "checks.json");
  await Bun.write(file, JSON.stringify({ checks: [checkOf(UUIDS[0])] }));
  return [file, "--yes"];
}

async function writeGatusConfig(folder: string): Promise<void> {
  const endpoint = `{ name: a, url: "https://a.example.com", conditions: ["[STATUS] == 200"] }`;
  await Bun.write(join(folder, "gatus.yaml"), `endpoints: [${endpoint}]`);
}

const ANN = ["ann@example.com", "--page", "acme"];
const CONSENT = ["--consent", "Asked for it by telephone"];
const ADA = ["--email", "ada@example.com"];

/** Preparation and arguments of each command, and the audit actions that it records. */
const CHANGES: Record<
  string,
  {
    before?(run: CommandLine, folder: string): Promise<unknown>;
    /** `folder` is for files of the test. */
    args(id: string, folder: string): string[];
    /** Lines of standard input. */
    input?: string[];
    leaves: string[];
  }
> = {
  "key create": {
    args: () => ["--name", "CI", "--scope", "read:status"],
    leaves: ["key.create"],
  },
  "key update": { before: keyId, args: (id) => [id, "--name", "CD"], leaves: ["key.update"] },
  "key rotate": { before: keyId, args: (id) => [id], leaves: ["key.rotate"] },
  backup: {
    args: (_, folder) => [join(folder, "copy.db")],
    leaves: ["database.backup"],
  },
  "key revoke": { before: keyId, args: (id) => [id], leaves: ["key.revoke"] },
  "subscriber add": {
    before: page,
    args: () => [...ANN, ...CONSENT],
    leaves: ["subscriber.add"],
  },
  "subscriber remove": {
    async before(run, folder) {
      await page(run, folder);
      await run(["subscriber", "add", ...ANN, ...CONSENT]);
    },
    args: () => ANN,
    leaves: ["subscriber.remove"],
  },
  "subscriber import": {
    async before(run, folder) {
      await page(run, folder);
      await Bun.write(join(folder, "people.csv"), "email\nann@example.com\n");
    },
    args: (_, folder) => [join(folder, "people.csv"), "--page", "acme", ...CONSENT],
    leaves: ["subscriber.import"],
  },
  "subscriber export": {
    before: page,
    args: () => ["--page", "acme"],
    leaves: ["subscriber.export"],
  },
  "page access": {
    before: page,
    args: () => ["acme", "--set-password", "-"],
    input: ["a horse battery"],
    leaves: ["page.set_password"],
  },
  "import healthchecks": {
    before: (_run, folder) => importArgs(folder),
    args: (_, folder) => [join(folder, "checks.json"), "--yes"],
    leaves: ["import.run"],
  },
  "import uptime-kuma": {
    async before(_run, folder) {
      using kuma = kumaFolder("1.23.17", "json");
      await Bun.write(join(folder, "backup.json"), Bun.file(kuma.path));
    },
    args: (_, folder) => [join(folder, "backup.json"), "--yes"],
    leaves: ["import.run"],
  },
  "import statuspage": {
    before: (_run, folder) => Bun.write(join(folder, "saved.json"), JSON.stringify(documentsOf())),
    args: (_, folder) => [join(folder, "saved.json"), "--yes"],
    leaves: ["import.run"],
  },
  "import uptimerobot": {
    args: () => [join(FIXTURES, "uptimerobot/monitors-2.json"), "--yes"],
    leaves: ["import.run"],
  },
  "import better-stack": {
    args: () => [join(FIXTURES, "better-stack/heartbeats.json"), "--yes"],
    leaves: ["import.run"],
  },
  "import csv": {
    before: (_run, folder) => Bun.write(join(folder, "list.csv"), "url\nshop.example.com\n"),
    args: (_, folder) => [join(folder, "list.csv"), "--yes"],
    leaves: ["import.run"],
  },
  "import gatus": {
    before: (_run, folder) => writeGatusConfig(folder),
    args: (_, folder) => [join(folder, "gatus.yaml"), "--yes"],
    leaves: ["import.run"],
  },
  "import start": {
    async before(run, folder) {
      const args = await importArgs(folder);
      const imported = await run(["import", "healthchecks", ...args, "--paused", "--json"]);
      return jsonOf<{ id: string }>(imported).id;
    },
    args: (id) => [id],
    leaves: ["import.start"],
  },
  "user create": { args: () => ADA, leaves: ["user.invite"] },
  "user disable": {
    async before(run) {
      await run(["user", "create", ...ADA]);
      await run(["user", "create", "--email", "bob@example.com", "--role", "viewer"]);
    },
    args: () => ["bob@example.com"],
    leaves: ["user.disable"],
  },
  "user reset-password": {
    before: (run) => run(["user", "create", ...ADA]),
    args: () => ["ada@example.com"],
    leaves: ["user.password_link"],
  },
  "user reset-second-factor": {
    async before(run, folder) {
      await run(["user", "create", ...ADA]);
      await turnOnIn(folder);
    },
    args: () => ["ada@example.com"],
    leaves: ["user.second_factor_reset"],
  },
  "user recover": {
    async before(run, folder) {
      await run(["user", "create", ...ADA]);
      await turnOnIn(folder);
    },
    args: () => ["ada@example.com"],
    leaves: ["user.second_factor_reset", "user.recover"],
  },
};

/** Commands that record no audit entry, each with the reason. */
const SILENT: Record<string, string> = {
  serve: "requests make its changes",
  demo: "it changes only a directory that was empty",
  "key list": "it reads",
  "user list": "it reads",
  "subscriber list": "it reads",
  "import list": "it reads",
  "import show": "it reads",
  "sign-in check": "it asks the provider",
  "mail status": "it reads",
  "mail bounce": "it records what mail servers report",
  export: "it reads",
  restore: "it puts another database in the place, the log of changes with it",
  "fleet status": "it reads",
  "fleet orphans": "it reads",
  probe: "the server takes its results",
  healthcheck: "it asks a server that runs",
  promote: "it asks a node that runs, which records its term",
  demote: "it asks a node that runs",
  openapi: "it reads",
  schema: "it reads",
  completion: "it reads",
  // The server that these ask records the key.
  ...Object.fromEntries(
    [
      "status",
      "watch",
      "incident list",
      "incident open",
      "incident update",
      "incident resolve",
      "component set",
      "monitor acknowledge",
      "maintenance run",
    ].map((name) => [name, "it asks a server that runs"]),
  ),
};

describe("the audit log of commands", () => {
  // The test of `mail test` has a relay, and that of `apply` is below.
  test("every command is listed in this test as audited or silent", async () => {
    const known = [...Object.keys(CHANGES), ...Object.keys(SILENT), "apply", "mail test"];
    const commands = await listCommands();
    expect(known.sort()).toEqual(commands.map(({ name }) => name).sort());
  });

  for (const [name, { before, args, input, leaves }] of Object.entries(CHANGES)) {
    test(`the command line is the audited actor of ${name}`, async () => {
      using data = installation();
      const id = String((await before?.(data.run, data.path)) ?? "");
      const known = data.entries().length;
      const outcome = await data.run([...name.split(" "), ...args(id, data.path)], {}, input);
      expect([outcome.exitCode, outcome.err.filter((line) => line.startsWith("error"))]).toEqual([
        0,
        [],
      ]);
      const left = data.entries().slice(known);
      expect(left.map(({ action }) => action)).toEqual(leaves);
      for (const { actorKind, ip, summary } of left) {
        expect([actorKind, ip]).toEqual(["cli", null]);
        expect(summary).not.toMatch(/allclear_\w{20}/);
      }
    });
  }

  test("apply writes one audit entry per created, changed or deleted object", async () => {
    using data = installation();
    const file = join(data.path, "status.yaml");
    const apply = async (text: string, ...flags: string[]) => {
      const known = data.entries().length;
      await Bun.write(file, text);
      expect((await data.run(["apply", file, ...flags])).exitCode).toBe(0);
      const left = data.entries().slice(known);
      expect(new Set(left.map(({ actorKind }) => actorKind))).toEqual(
        new Set(left.length > 0 ? ["cli"] : []),
      );
      return left.map(({ action }) => action).sort();
    };
    expect(await apply(FILE, "--dry-run")).toEqual([]);
    expect(await apply(FILE)).toEqual([
      "component.create",
      "group.create",
      "monitor.create",
      "page.create",
    ]);
    expect(await apply(FILE)).toEqual([]);
    expect(await apply(CHANGED, "--prune")).toEqual([
      "component.create",
      "component.delete",
      "monitor.update",
      "page.update",
    ]);
  });
});
