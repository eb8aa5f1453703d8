import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createSamplePage } from "../../src/features/sample";
import { openForCommand } from "../../src/installation";
import { testConfig } from "../support/app";
import { type CommandLine, commandLine, installedCommandLine } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

const HEAD = `# Written by \`allclear export\`. \`allclear apply FILE\` restores it, here or on another server.
# Objects are identified by their refs. Omitted fields have their defaults.
# Not included: statuses, incidents, maintenance, logos, users and API keys.
`;

const TWO_PAGES = `${HEAD}
pages:
  - slug: northwind
    name: "Northwind: status"
    ref: northwind-status
    time_zone: Europe/Berlin
    custom_domains:
      - status.northwind.example
    default: true
    components:
      - name: Website
        ref: website
    groups:
      - name: Shop
        ref: shop
        collapse: collapsed
        components:
          - name: Storefront
            ref: storefront
            start_date: "2025-01-01"
          - name: Search
            ref: search
            showcase: false

      - name: Platform
        ref: platform

  - slug: internal
    name: Internal
    ref: internal
    description: |+
      For those who work here.

    visibility: private
`;

/** A data directory with the two pages, by apply. */
async function demoData(folder: string): Promise<CommandLine> {
  const file = join(folder, "status.yaml");
  await Bun.write(file, TWO_PAGES);
  const run = commandLine(join(folder, "data"));
  expect((await run(["apply", file])).exitCode).toBe(0);
  return run;
}

const printed = async (run: CommandLine, ...args: string[]) => {
  const { exitCode, out, err } = await run(["export", ...args]);
  expect([exitCode, err]).toEqual([0, []]);
  return `${out.join("\n")}\n`;
};

describe("allclear export", () => {
  test("export prints everything in order, with every ref and without default values", async () => {
    using folder = temporaryFolder();
    const run = await demoData(folder.path);
    expect(await printed(run)).toBe(TWO_PAGES);
  });

  test("an export is unchanged for apply, even with --prune", async () => {
    using folder = temporaryFolder();
    const run = await demoData(folder.path);
    const file = join(folder.path, "exported.yaml");
    await Bun.write(file, await printed(run));
    expect(await run(["apply", file, "--prune"])).toEqual({
      exitCode: 0,
      out: [],
      err: ["Nothing to change."],
    });
  });

  test("--page prints one page, also by an earlier slug, and warns of pruning with it", async () => {
    using folder = temporaryFolder();
    const run = await demoData(folder.path);
    const file = join(folder.path, "renamed.yaml");
    await Bun.write(file, TWO_PAGES.replace("slug: internal", "slug: inside"));
    expect((await run(["apply", file])).out).toHaveLength(1);

    const page = await printed(run, "--page", "internal");
    expect(page).toContain("  - slug: inside\n    name: Internal\n    ref: internal\n");
    expect(page).not.toContain("northwind");
    expect(page).toContain("# This file is not complete: `allclear apply --prune`");
    expect(await printed(run, "--page", "inside")).toBe(page);
    expect(await printed(run)).not.toContain("not all that there is");
  });

  test("--page with an unknown page is rejected, and nothing is printed", async () => {
    using folder = temporaryFolder();
    const run = await demoData(folder.path);
    expect(await run(["export", "--page", "nowhere"])).toEqual({
      exitCode: 1,
      out: [],
      err: ["There is no page nowhere."],
    });
    expect((await run(["export", "--page", "internal"])).exitCode).toBe(0);
  });

  test("export omits the sample page and rejects it as --page", async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    const run = installedCommandLine(dataDir);
    const config = testConfig({ ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent" });
    const { ctx, close } = openForCommand(config, "test", { canCreate: false });
    await ctx.db.write((tx) => createSamplePage(ctx, tx));
    close();

    expect(await printed(run)).toBe(`${HEAD}\npages: []\n`);
    expect(await run(["export", "--page", "sample"])).toEqual({
      exitCode: 1,
      out: [],
      err: ["sample is the sample page of a first start, which cannot be exported."],
    });
  });

  test("export rejects a data directory without a database and creates none", async () => {
    using folder = temporaryFolder();
    const run = commandLine(join(folder.path, "nowhere"));
    for (const _ of [1, 2]) {
      const { exitCode, out, err } = await run(["export"]);
      expect([exitCode, out]).toEqual([1, []]);
      expect(err.join("\n")).toContain("nowhere");
    }
  });
});
