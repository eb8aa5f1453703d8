import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { commandLine } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

const FILE = `
pages:
  - slug: northwind
    name: Northwind
    components:
      - name: API
        monitors:
          - name: Health
            type: http
            config:
              url: https://api.northwind.example/health
              headers: { Authorization: "Bearer \${API_TOKEN}" }
`;

const EXPORTED = `# yaml-language-server: $schema=allclear.schema.json
# Written by \`allclear export\`. \`allclear apply FILE\` restores it, here or on another server.
# Objects are identified by their refs. Omitted fields have their defaults.
# Not included: statuses, incidents, maintenance, logos and favicons, passwords and links of pages, users and API keys.
# The first line names the schema for editors: \`allclear schema > allclear.schema.json\`.
# Secrets and tokens of monitors are not included either: null keeps a stored one. On another server, set each as \${NAME}.

pages:
  - slug: northwind
    name: Northwind
    ref: northwind
    default: true
    components:
      - name: API
        ref: api
        monitors:
          - name: Health
            ref: health
            type: http
            config:
              url: https://api.northwind.example/health
              headers:
                Authorization: null
`;

const TOKEN = "t0p-secret-token";

describe("monitors on the command line", () => {
  test("a secret from the environment is used, also by a dry run, and is in no output", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    await Bun.write(file, FILE);
    const run = commandLine(join(folder.path, "data"));
    const env = { API_TOKEN: TOKEN };
    const outcomes = [
      await run(["apply", file, "--dry-run"], env),
      await run(["apply", file, "--json"], env),
      await run(["apply", file], { API_TOKEN: `${TOKEN}-2` }),
      await run(["export"]),
    ];
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
    expect(outcomes[0]?.out).toContain("+ monitor health");
    expect(outcomes[2]?.out).toEqual([
      '~ monitor health: config.headers.Authorization "a secret" → "another secret"',
    ]);
    expect(`${outcomes[3]?.out.join("\n")}\n`).toBe(EXPORTED);
    expect(JSON.stringify(outcomes)).not.toContain(TOKEN);
  });

  test("a missing variable is named with its line, exits with 2 and changes nothing", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    await Bun.write(file, FILE);
    const run = commandLine(join(folder.path, "data"));
    expect(await run(["apply", file])).toEqual({
      exitCode: 2,
      out: [],
      err: [
        `${file}:12: pages[0].components[0].monitors[0].config.headers.Authorization refers to the variable API_TOKEN, which is not set`,
      ],
    });
    expect((await run(["apply", file], { API_TOKEN: TOKEN })).err).toEqual([
      "Created 3, changed 0, removed 0.",
    ]);
  });

  test("an export with monitors is unchanged where it was made, and requires their secrets elsewhere", async () => {
    using folder = temporaryFolder();
    const [given, exported] = ["given", "exported"].map((name) =>
      join(folder.path, `${name}.yaml`),
    ) as [string, string];
    await Bun.write(given, FILE);
    const run = commandLine(join(folder.path, "data"));
    await run(["apply", given], { API_TOKEN: TOKEN });
    await Bun.write(exported, `${(await run(["export"])).out.join("\n")}\n`);
    expect((await run(["apply", exported, "--prune"])).err).toEqual(["Nothing to change."]);

    const elsewhere = commandLine(join(folder.path, "elsewhere"));
    expect((await elsewhere(["apply", exported])).err).toEqual([
      `${exported}:23: config.headers.Authorization is a secret that is not known here yet: give it, such as \${NAME} of a variable`,
    ]);
    const completed = EXPORTED.replace("Authorization: null", 'Authorization: "${API_TOKEN}"');
    await Bun.write(exported, completed);
    const made = await elsewhere(["apply", exported], { API_TOKEN: TOKEN });
    expect(made.err).toEqual(["Created 3, changed 0, removed 0."]);
    expect(`${(await elsewhere(["export"])).out.join("\n")}\n`).toBe(EXPORTED);
  });
});
