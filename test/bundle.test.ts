import { describe, expect, test } from "bun:test";
import { BUNDLE } from "../deploy/bundle";

/** Packages and features whose modules a server loads before it is ready. */
const START = {
  packages: ["drizzle-orm", "ipaddr.js", "lru-cache", "memoirist"],
  features: ["auth", "keys", "limits", "metrics", "pages", "settings"],
};
/** CommonJS packages in the same part. They are evaluated with the first log line. */
const LATER = [
  "@pinojs/redact",
  "atomic-sleep",
  "on-exit-leak-free",
  "pino",
  "pino-std-serializers",
  "quick-format-unescaped",
  "safe-stable-stringify",
  "sonic-boom",
];
/** Modules of the runtime that load its streams, which takes 3 ms and 1.8 MB. */
const WITH_STREAMS = [
  "child_process",
  "crypto",
  "http",
  "http2",
  "https",
  "net",
  "stream",
  "tls",
  "tty",
  "zlib",
];
/** Largest text of these modules without migrations, in bytes. */
const START_MAX_BYTES = 588_450;

/** Returns the bytes of each module in the parts that begin with these modules, and in their static imports. */
async function loadedWith(...modules: string[]): Promise<Map<string, number>> {
  const { metafile } = await Bun.build({ ...BUNDLE, metafile: true });
  const parts = metafile?.outputs ?? {};
  const loaded = new Set<string>();
  const load = (part: string): void => {
    if (loaded.has(part)) return;
    loaded.add(part);
    for (const { path, kind } of parts[part]?.imports ?? []) {
      if (kind === "import-statement" && path in parts) load(path);
    }
  };
  for (const [part, { inputs }] of Object.entries(parts)) {
    if (modules.some((module) => module in inputs)) load(part);
  }
  return new Map(
    Array.from(loaded).flatMap((part) =>
      Object.entries(parts[part]?.inputs ?? {}).map(([file, { bytesInOutput }]) => [
        file,
        bytesInOutput,
      ]),
    ),
  );
}

/** Returns the different first groups of a pattern in the names of files, in order. */
function namesIn(files: Iterable<string>, pattern: RegExp): string[] {
  const names = Array.from(files, (file) => pattern.exec(file)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

describe("what a server loads before it is ready", () => {
  const start = loadedWith("src/main.ts", "src/cli/main.ts", "src/cli/serve.ts");

  test("only the packages and features of health checks, limits, settings and the database", async () => {
    const files = [...(await start).keys()];
    expect(namesIn(files, /^node_modules\/((?:@[^/]+\/)?[^/]+)/)).toEqual(
      [...START.packages, ...LATER].toSorted(),
    );
    expect(namesIn(files, /^src\/features\/([^/]+)/)).toEqual(START.features);
  });

  test("no status page, screen of the dashboard, probe or delivery", async () => {
    const files = [...(await start).keys()];
    expect(namesIn(files, /^src\/(admin|public|ui)\//)).toEqual([]);
    expect(files.filter((file) => /\/(probes|deliver)\//.test(file))).toEqual([]);
    expect(files).toContain("src/app.ts");
  });

  test("no module of the runtime that loads its streams", async () => {
    const transpiler = new Bun.Transpiler({ loader: "tsx" });
    const importers: string[] = [];
    for (const file of (await start).keys()) {
      if (!/\.[cm]?[jt]sx?$/.test(file) || LATER.some((name) => file.includes(`/${name}/`)))
        continue;
      const imported = transpiler
        .scanImports(await Bun.file(file).text())
        .filter(({ kind }) => kind === "import-statement" || file.startsWith("node_modules/"))
        .map(({ path }) => path.replace(/^node:/, ""));
      for (const name of WITH_STREAMS)
        if (imported.includes(name)) importers.push(`${file}: ${name}`);
    }
    expect(importers).toEqual([]);
  });

  test("not more text than before", async () => {
    // Each version adds a migration, which the start compares with the applied one.
    const files = [...(await start)].filter(([file]) => !file.startsWith("migrations/"));
    const bytes = files.reduce((sum, [, size]) => sum + size, 0);
    expect(bytes).toBeGreaterThan(START_MAX_BYTES / 2);
    expect(bytes).toBeLessThan(START_MAX_BYTES);
  });
});

test("commands to a server load nothing of a server", async () => {
  const commands = ["status", "incident", "component", "maintenance"];
  const modules = commands.map((name) => `src/cli/remote/${name}.ts`);
  const files = [...(await loadedWith("src/main.ts", "src/cli/main.ts", ...modules)).keys()];
  expect(files).toContain("src/cli/remote/client.ts");
  const packages = namesIn(files, /^node_modules\/((?:@[^/]+\/)?[^/]+)/);
  expect(packages).toEqual([...LATER, "ipaddr.js"].toSorted());
  const others = files.filter((file) => !/^src\/(main|version|base\/|cli\/|db\/errors)/.test(file));
  expect(others.filter((file) => file.startsWith("src/"))).toEqual([]);
});

test("the API loads no parser of YAML, which only files that people hand in need", async () => {
  const files = [...(await loadedWith("src/other-routes.ts")).keys()];
  expect(files).toContain("src/public/docs.tsx");
  expect(files.filter((file) => file.startsWith("node_modules/yaml/"))).toEqual([]);
});

test("the API loads no library of the Model Context Protocol, which the first message of an AI agent loads", async () => {
  const library = /^node_modules\/(@modelcontextprotocol|ajv|zod)\//;
  const files = [...(await loadedWith("src/other-routes.ts")).keys()];
  expect(files).toContain("src/features/mcp/api.ts");
  expect(files.filter((file) => library.test(file))).toEqual([]);
});
