import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { configFileSchema } from "../../src/features/apply/schema";
import { setPublicAddress } from "../../src/features/settings/settings";
import { openForCommand } from "../../src/installation";
import { CLI_ACTOR } from "../../src/base/actor";
import { testConfig } from "../support/app";
import { commandLine, jsonOf } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

const FILE = `
pages:
  - slug: northwind
    name: Northwind
    groups:
      - name: Shop
        components:
          - name: Storefront
    components:
      - name: Public API
`;

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

interface Outcome {
  dry_run: boolean;
  changes: { kind: string }[];
  objects: { noun: string; address: string | null; id: string | null }[];
  leftovers: string[];
}

describe("allclear apply", () => {
  test("apply prints its changes, and a second run changes nothing", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    await Bun.write(file, FILE);
    const run = commandLine(join(folder.path, "data"));
    const first = await run(["apply", file]);
    expect(first.exitCode).toBe(0);
    expect(first.out).toHaveLength(4);
    expect(first.err).toEqual(["Created 4, changed 0, removed 0."]);
    expect(await run(["apply", file])).toEqual({
      exitCode: 0,
      out: [],
      err: ["Nothing to change."],
    });
  });

  test("apply reads standard input for -, and names it in errors", async () => {
    using folder = temporaryFolder();
    const run = commandLine(join(folder.path, "data"));
    const first = await run(["apply", "-"], {}, FILE.split("\n"));
    expect(first.err).toEqual(["Created 4, changed 0, removed 0."]);
    const exported = await run(["export"]);
    const again = await run(["apply", "-"], {}, exported.out);
    expect([again.exitCode, again.err]).toEqual([0, ["Nothing to change."]]);
    const wrong = await run(["apply", "-"], {}, ["pages: []", "monitor: []"]);
    expect([wrong.exitCode, wrong.out]).toEqual([2, []]);
    expect(wrong.err).toHaveLength(1);
    expect(wrong.err[0]).toStartWith("standard input:2: ");
    const long = await run(["apply", "-"], {}, ["pages: []", `# ${"a".repeat(16 * 1024 * 1024)}`]);
    expect([long.exitCode, long.err]).toEqual([1, ["Standard input is longer than 16 MiB."]]);
  });

  test("schema prints the schema of the file", async () => {
    using folder = temporaryFolder();
    const run = commandLine(join(folder.path, "data"));
    expect(jsonOf<object>(await run(["schema"]))).toEqual(
      JSON.parse(JSON.stringify(configFileSchema())),
    );
    expect(existsSync(join(folder.path, "data"))).toBe(false);
  });

  test("apply rejects a file that is not UTF-8, naming the line, and changes nothing", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    const run = commandLine(join(folder.path, "data"));
    const text = FILE.replace("Northwind", "Nordwind Süd");
    await Bun.write(file, Buffer.from(text, "latin1"));
    expect(await run(["apply", file])).toEqual({
      exitCode: 2,
      out: [],
      err: [`${file}:4: is not UTF-8`],
    });
    expect(existsSync(join(folder.path, "data"))).toBe(false);

    await Bun.write(file, text);
    expect((await run(["apply", file])).exitCode).toBe(0);
    expect((await run(["export"])).out.join("\n")).toContain("name: Nordwind Süd");
  });

  test.each([
    ["a character that is cut off", Buffer.from([0x61, 0x0a, 0x62, 0xe2, 0x82]), 2],
    ["a lone surrogate", Buffer.from([0x61, 0x0a, 0x0a, 0xed, 0xa0, 0x80, 0x0a]), 3],
    ["UTF-16", Buffer.from("pages: []", "utf16le").fill(0xff, 0, 1), 1],
  ])("%s is rejected as bytes that are not UTF-8", async (_name, bytes, line) => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    await Bun.write(file, bytes);
    const { exitCode, err } = await commandLine(join(folder.path, "data"))(["apply", file]);
    expect([exitCode, err]).toEqual([2, [`${file}:${line}: is not UTF-8`]]);
  });

  test("--dry-run prints the same and changes nothing, and --json prints it for programs", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    await Bun.write(file, FILE);
    const run = commandLine(join(folder.path, "data"));
    const dry = jsonOf<Outcome>(await run(["apply", file, "--dry-run", "--json"]));
    expect(dry.dry_run).toBe(true);
    expect(dry.changes.map(({ kind }) => kind)).toEqual(["create", "create", "create", "create"]);
    const real = jsonOf<Outcome>(await run(["apply", file, "--json"]));
    expect(real.dry_run).toBe(false);
    expect(real.changes.map(({ kind }) => kind)).toEqual(dry.changes.map(({ kind }) => kind));
  });

  test("--json names every object of the file with its id and the path of the API", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    const more = `
monitors:
  - { name: Shop front, type: push, components: ["northwind:storefront"] }
webhooks:
  - { ref: our-chat, url: "https://example.com/hook", secret: ${SECRET} }
`;
    await Bun.write(file, FILE + more);
    const run = commandLine(join(folder.path, "data"));
    const addresses = [
      ["page", "northwind"],
      ["component", "northwind:public-api"],
      ["group", null],
      ["component", "northwind:storefront"],
      ["monitor", "shop-front"],
      ["webhook", "our-chat"],
    ];
    const named = ({ objects }: Outcome) => objects.map(({ noun, address }) => [noun, address]);
    const dry = jsonOf<Outcome>(await run(["apply", file, "--dry-run", "--json"]));
    expect(named(dry) as unknown).toEqual(addresses);
    expect(dry.objects.map(({ id }) => id)).toEqual(dry.objects.map(() => null));
    const made = jsonOf<Outcome>(await run(["apply", file, "--json"]));
    expect(named(made) as unknown).toEqual(addresses);
    const prefixes = made.objects.map(({ id }) => id?.replace(/_[0-9a-z]{26}$/, ""));
    expect(prefixes).toEqual(["page", "cmp", "grp", "cmp", "mon", "whk"]);
    for (const flags of [["--json"], ["--json", "--dry-run"]]) {
      const again = jsonOf<Outcome>(await run(["apply", file, ...flags]));
      expect(again.changes).toEqual([]);
      expect(again.objects).toEqual(made.objects);
    }
  });

  test("a mistake in the file is named with its line, exits with 2 and changes nothing", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "status.yaml");
    const run = commandLine(join(folder.path, "data"));
    await Bun.write(file, FILE.replace("    name: Northwind", "    nam: Northwind"));
    const wrong = await run(["apply", file]);
    expect([wrong.exitCode, wrong.out]).toEqual([2, []]);
    expect(wrong.err.join("\n")).toMatch(/status\.yaml:\d+: .*nam/);
    await Bun.write(file, FILE);
    expect((await run(["apply", file])).err).toEqual(["Created 4, changed 0, removed 0."]);
  });

  test("apply rejects the host of the public address as custom domain", async () => {
    using folder = temporaryFolder();
    const [file, data] = [join(folder.path, "status.yaml"), join(folder.path, "data")];
    const domain = "    custom_domains: [status.northwind.example]\n";
    await Bun.write(file, FILE.replace("    groups:", `${domain}    groups:`));
    const env = { ALLCLEAR_BASE_URL: undefined, ALLCLEAR_DATA_DIR: data };
    const config = testConfig({ ...env, ALLCLEAR_LOG_LEVEL: "silent" });
    const { ctx, close } = openForCommand(config, "test", { canCreate: true });
    const address = "https://status.northwind.example:8443";
    await ctx.db.write((tx) => setPublicAddress(ctx, tx, address, CLI_ACTOR));
    close();
    const run = commandLine(data);
    const rejected = await run(["apply", file]);
    expect([rejected.exitCode, rejected.out]).toEqual([2, []]);
    expect(rejected.err.join()).toContain("is the host of the public address");
    await Bun.write(file, FILE);
    expect((await run(["apply", file])).exitCode).toBe(0);
  });
});
