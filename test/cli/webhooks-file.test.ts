import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import { setAllowedNetworks } from "../../src/features/settings/settings";
import { openForCommand } from "../../src/installation";
import { testConfig } from "../support/app";
import { commandLine, installedCommandLine, jsonOf } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

const FILE = `
pages:
  - { slug: northwind, name: Northwind }
webhooks:
  - description: Our chat
    format: slack
    url: \${SLACK_URL}
    page: northwind
  - ref: deployments
    url: https://ci.northwind.example/hooks
    secret: \${SIGNING}
`;

const EXPORTED = `# yaml-language-server: $schema=allclear.schema.json
# Written by \`allclear export\`. \`allclear apply FILE\` restores it, here or on another server.
# Objects are identified by their refs. Omitted fields have their defaults.
# Not included: statuses, incidents, maintenance, logos and favicons, passwords and links of pages, users and API keys.
# The first line names the schema for editors: \`allclear schema > allclear.schema.json\`.
# Secrets and tokens of webhooks are not included either: null keeps a stored one. On another server, set each as \${NAME}.

pages:
  - slug: northwind
    name: Northwind
    ref: northwind
    default: true
webhooks:
  - ref: our-chat
    url: null
    description: Our chat
    page: northwind
    format: slack
  - ref: deployments
    url: https://ci.northwind.example/hooks
    secret: null
`;

const ENV = {
  SLACK_URL: "https://hooks.slack.com/services/T00000000/B00000000/quite-private-end",
  SIGNING: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
};

describe("webhooks on the command line", () => {
  test("webhooks are created with secrets from the environment, also by a dry run, and no output contains them", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    await Bun.write(file, FILE);
    const run = commandLine(join(folder.path, "data"));
    const outcomes = [
      await run(["apply", file, "--dry-run"], ENV),
      await run(["apply", file, "--json"], ENV),
      await run(["apply", file], { ...ENV, SLACK_URL: `${ENV.SLACK_URL}-2` }),
      await run(["export"]),
    ];
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
    expect(outcomes[0]?.out).toContain("+ webhook our-chat");
    expect(outcomes[2]?.out).toEqual(['~ webhook our-chat: url "a secret" → "another secret"']);
    expect(`${outcomes[3]?.out.join("\n")}\n`).toBe(EXPORTED);
    expect(JSON.stringify(outcomes)).not.toContain("quite-private-end");
    expect(JSON.stringify(outcomes)).not.toContain("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  });

  test("apply names the webhooks whose addresses have to confirm, and when they are asked", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    const entries = Array.from(
      { length: 21 },
      (_, nth) => `  - { ref: w${nth}, format: email, url: "mailto:p${nth}@example.com" }`,
    );
    await Bun.write(file, ["pages: []", "webhooks:", ...entries].join("\n"));
    const env = {
      ALLCLEAR_SMTP_HOST: "relay.example",
      ALLCLEAR_MAIL_FROM: "status@example.com",
      ALLCLEAR_BASE_URL: "https://status.example.com",
    };
    const run = commandLine(join(folder.path, "data"));
    const plan = await run(["apply", file, "--dry-run"], env);
    const applied = await run(["apply", file], env);
    for (const { exitCode, err } of [plan, applied]) {
      expect([exitCode, err.length]).toEqual([0, 22]);
      expect(err[1]).toBe(
        "The webhook w0 sends nothing yet: its address must confirm. A link for the address waits to be mailed.",
      );
      expect(err[21]).toMatch(/^The webhook w20 .* is mailed at \d{4}-[-\d]+ [\d:]+ UTC, because/);
    }
    const { unconfirmed } = jsonOf<{ unconfirmed: { webhook: string; link: string }[] }>(
      await run(["apply", file, "--json"], env),
    );
    expect(unconfirmed).toHaveLength(21);
    expect(unconfirmed[0]).toMatchObject({ webhook: "w0", link: "waiting" });
  });

  test("an export with webhooks is unchanged where it was made, and requires their secrets elsewhere", async () => {
    using folder = temporaryFolder();
    const [given, exported] = ["given", "exported"].map((name) =>
      join(folder.path, `${name}.yaml`),
    ) as [string, string];
    await Bun.write(given, FILE);
    const run = commandLine(join(folder.path, "data"));
    await run(["apply", given], ENV);
    await Bun.write(exported, `${(await run(["export"])).out.join("\n")}\n`);
    expect((await run(["apply", exported, "--prune"])).err).toEqual(["Nothing to change."]);

    const elsewhere = commandLine(join(folder.path, "elsewhere"));
    const rejected = await elsewhere(["apply", exported]);
    expect([rejected.exitCode, rejected.err]).toEqual([
      2,
      [
        `${exported}:15: url is a secret that is not known here yet: give it, such as \${NAME} of a variable`,
      ],
    ]);
    await Bun.write(
      exported,
      EXPORTED.replace("url: null", 'url: "${SLACK_URL}"').replace(
        "secret: null",
        'secret: "${SIGNING}"',
      ),
    );
    const made = await elsewhere(["apply", exported], ENV);
    expect(made.err).toEqual(["Created 3, changed 0, removed 0."]);
    expect(`${(await elsewhere(["export"])).out.join("\n")}\n`).toBe(EXPORTED);
  });

  test("a webhook can be in a private network that --outbound-allow names", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    await Bun.write(file, FILE.replace("https://ci.northwind.example", "http://10.1.2.3"));
    const run = commandLine(join(folder.path, "data"));
    const rejected = await run(["apply", file], ENV);
    expect(rejected.exitCode).toBe(2);
    expect(rejected.err.join("\n")).toContain(`${file}:10: url has a host that `);
    const made = await run(["apply", file, "--outbound-allow", "10.0.0.0/8"], ENV);
    expect([made.exitCode, made.err]).toEqual([0, ["Created 3, changed 0, removed 0."]]);
  });

  test("a webhook can be in a network that the dashboard allows, unless --outbound-allow is given", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    const dataDir = join(folder.path, "data");
    await Bun.write(file, FILE.replace("https://ci.northwind.example", "http://10.1.2.3"));
    const run = installedCommandLine(dataDir);
    const env = { ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent" };
    const { ctx, close } = openForCommand(testConfig(env), "test", { canCreate: false });
    await ctx.db.write((tx) => setAllowedNetworks(ctx, tx, "10.0.0.0/8", CLI_ACTOR));
    close();
    for (const networks of ["", "192.168.0.0/16"]) {
      const rejected = await run(["apply", file, "--outbound-allow", networks], ENV);
      expect(rejected.exitCode).toBe(2);
      expect(rejected.err.join("\n")).toContain("Settings → General → Allowed networks");
    }
    const made = await run(["apply", file], ENV);
    expect([made.exitCode, made.err]).toEqual([0, ["Created 3, changed 0, removed 0."]]);
  });

  test("export --page omits webhooks for every page and reports it", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    await Bun.write(file, FILE);
    const run = commandLine(join(folder.path, "data"));
    await run(["apply", file], ENV);
    const { out } = await run(["export", "--page", "northwind"]);
    const text = out.join("\n");
    expect(text).toContain("  - ref: our-chat");
    expect(text).not.toContain("  - ref: deployments");
    expect(text).toContain("# This file is not complete: `allclear apply --prune`");
  });
});
