import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readApplyFile } from "../../src/features/apply/read";
import { setPublicAddress } from "../../src/features/settings/settings";
import { storeFirstRun } from "../../src/first-run";
import { CLI_ACTOR } from "../../src/base/actor";
import { openForCommand } from "../../src/installation";
import { testConfig } from "../support/app";
import { type CommandLine, commandLine, installedCommandLine } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";
import {
  createComponent,
  createMonitor,
  createPage,
  createUnsupportedMonitor,
  createWebhook,
} from "../support/examined";

const HEAD = `# yaml-language-server: $schema=allclear.schema.json
# Written by \`allclear export\`. \`allclear apply FILE\` restores it, here or on another server.
# Objects are identified by their refs. Omitted fields have their defaults.
# Not included: statuses, incidents, maintenance, logos and favicons, passwords and links of pages, users and API keys.
# The first line names the schema for editors: \`allclear schema > allclear.schema.json\`.
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

  test("--page leaves out what is not on the page, says so, and applies to an empty server", async () => {
    using folder = temporaryFolder();
    const run = commandLine(join(folder.path, "data"));
    const file = join(folder.path, "status.yaml");
    const tcp = "type: tcp, config: { host: a.test, port: 80 }";
    await Bun.write(
      file,
      `pages:
  - slug: acme
    name: Acme
    components:
      - name: API
        monitors:
          - { name: Health, ${tcp}, depends_on: [router, disk], components: [other/mail] }
          - { name: Disk, ${tcp}, depends_on: [router] }
  - { slug: other, name: Other, default: true, components: [{ name: Mail }] }
monitors:
  - { name: Router, ${tcp} }
webhooks:
  - { ref: chat, url: "https://ntfy.sh/x", format: ntfy, page: acme, monitors: [router, health] }
  - { ref: calls, url: "https://ntfy.sh/y", format: ntfy, page: acme, monitors: [router] }
`,
    );
    expect(await run(["apply", file])).toMatchObject({ exitCode: 0 });
    const page = await printed(run, "--page", "acme");
    expect(page).toContain(`
# Left out, because this file does not contain them. Applied to this server, it removes them:
#   monitor health: components other/mail
#   monitor health: depends_on router
#   monitor disk: depends_on router
#   webhook chat: monitors router
#   webhook calls: monitors router

pages:
`);
    await Bun.write(file, page);
    const elsewhere = commandLine(join(folder.path, "elsewhere"));
    expect(await elsewhere(["apply", file])).toMatchObject({ exitCode: 0 });
    const content = (text: string) => text.slice(text.indexOf("\npages:"));
    const again = await printed(elsewhere, "--page", "acme");
    expect(content(again)).toBe(content(page));
    expect(again).toContain("depends_on:\n              - disk\n");
    expect(again).toContain("url: https://ntfy.sh/y\n    page: acme\n    monitors: []\n");
    // Complete there, and with the default page.
    expect(again).not.toContain("not complete");
    expect(await printed(elsewhere)).toContain("default: true");
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
    await storeFirstRun(ctx);
    close();

    expect(await printed(run)).toBe(`${HEAD}\npages: []\n`);
    expect(await run(["export", "--page", "sample"])).toEqual({
      exitCode: 1,
      out: [],
      err: ["sample is the sample page of a first start, which cannot be exported."],
    });
  });

  test("export names the monitors that it leaves out, with --page only those of the page", async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    const run = installedCommandLine(dataDir);
    const config = testConfig({ ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent" });
    const { ctx, close } = openForCommand(config, "test", { canCreate: false });
    await ctx.db.write((tx) => {
      const page = createPage(ctx, tx, { slug: "acme", name: "Acme" }, CLI_ACTOR);
      const place = { position: 0, groupId: null, managedBy: null };
      const { id } = createComponent(ctx, tx, page, { name: "API" }, place, CLI_ACTOR);
      const config = { source: "gatus", type: "sctp", target: "a.example", settings: {} };
      const monitors = [{ name: "On a page", component_ids: [id] }, { name: "Alone" }];
      for (const monitor of monitors) {
        createUnsupportedMonitor(ctx, tx, { ...monitor, config }, CLI_ACTOR);
      }
    });
    close();

    const line = (refs: string) =>
      `\n# Monitors of types that this version cannot check are not included either: ${refs}.\n`;
    const all = await printed(run);
    expect(all).toContain(line("on-a-page, alone"));
    expect(all).not.toContain("sctp");
    expect(await printed(run, "--page", "acme")).toContain(line("on-a-page"));
  });

  test("export lists the references to monitors that it leaves out, and the file is valid without them", async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    const run = installedCommandLine(dataDir);
    const config = testConfig({ ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent" });
    const { ctx, close } = openForCommand(config, "test", { canCreate: false });
    await ctx.db.write((tx) => {
      const imported = { source: "gatus", type: "sctp", target: "a.example", settings: {} };
      const { row } = createUnsupportedMonitor(
        ctx,
        tx,
        { name: "Old", config: imported },
        CLI_ACTOR,
      );
      const shop = { type: "tcp", name: "Shop", config: { host: "shop.test", port: 80 } } as const;
      createMonitor(ctx, tx, { ...shop, depends_on: [row.id] }, CLI_ACTOR);
      const hook = { url: "https://hooks.test/", description: "Hook", monitors: [row.id] };
      createWebhook(ctx, tx, hook, CLI_ACTOR);
    });
    close();

    const text = await printed(run);
    expect(text).toContain("\n#   monitor shop: depends_on old\n#   webhook hook: monitors old\n");
    const { monitors, webhooks } = readApplyFile(text).content;
    expect(monitors?.map(({ ref, depends_on }) => [ref, depends_on])).toEqual([
      ["shop", undefined],
    ]);
    expect(webhooks?.map((one) => one.monitors)).toEqual([[]]);
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

  test("an export names the schema of this server if its public address is known", async () => {
    using folder = temporaryFolder();
    const run = await demoData(folder.path);
    const firstLine = async (args: string[]) =>
      (await run(["export", ...args])).out.join("\n").split("\n")[0];
    expect(await firstLine(["--base-url", "https://a.example"])).toBe(
      "# yaml-language-server: $schema=https://a.example/schema/config.json",
    );
    const config = testConfig({ ALLCLEAR_DATA_DIR: join(folder.path, "data") });
    const { ctx, close } = openForCommand(config, "test", { canCreate: false });
    await ctx.db.write((tx) => setPublicAddress(ctx, tx, "https://b.example", CLI_ACTOR));
    close();
    expect(await firstLine([])).toBe(
      "# yaml-language-server: $schema=https://b.example/schema/config.json",
    );
  });
});
