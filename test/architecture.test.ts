import { describe, expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";

const SRC = join(import.meta.dir, "..", "src");

/**
 * The floors of the house, lowest first. An import goes down or stays on its floor, never up.
 * Each is a pattern of paths below src/.
 */
const FLOORS: readonly { name: string; files: RegExp }[] = [
  { name: "kernel", files: /^kernel\/|^version\.ts$|\.d\.ts$/ },
  { name: "config, errors", files: /^(config|errors)\// },
  { name: "db, events, egress, context", files: /^(db|events|egress)\/|^context\.ts$/ },
  { name: "rooms", files: /^features\/(?!.*[/-]routes\.ts$)/ },
  { name: "http", files: /^http\// },
  { name: "routes", files: /^features\/[^/]+\/([a-z]+-)?routes\.ts$/ },
  { name: "ui", files: /^ui\// },
  { name: "public, admin", files: /^(public|admin)\// },
  { name: "app", files: /^app\.ts$/ },
  {
    name: "installation, housekeeping, listening, descriptor-guard, server",
    files: /^(installation|housekeeping|listening|descriptor-guard|server)\.ts$/,
  },
  { name: "cli", files: /^cli\// },
  { name: "main", files: /^main\.ts$/ },
];

/** Who may use whom sideways, beyond what everybody may: a room's neighbours, through their index. */
const NEIGHBOURS: Record<string, readonly string[]> = {
  components: ["pages"],
  incidents: ["pages", "components"],
  maintenance: ["pages", "components"],
  monitors: ["pages", "components", "incidents", "maintenance"],
  analytics: ["pages", "components", "incidents", "monitors", "keys"],
  metrics: ["monitors", "keys", "limits", "webhooks"],
  status: ["pages", "components", "incidents", "maintenance", "monitors"],
  sample: ["pages", "components"],
  "page-deletion": ["pages", "components", "incidents", "maintenance", "monitors", "webhooks"],
  apply: ["pages", "components", "monitors", "webhooks", "page-deletion"],
  health: ["pages"],
  pages: [],
  keys: ["limits"],
  limits: [],
  idempotency: [],
  submissions: [],
  auth: ["limits"],
  users: ["auth"],
  settings: [],
  webhooks: ["pages"],
};

interface Import {
  from: string;
  to: string;
  line: string;
}

const IMPORT = /^(?:import|export)\s[^;]*?from\s+"(\.[^"]+)"/gms;

async function readImports(): Promise<Import[]> {
  const imports: Import[] = [];
  for await (const file of new Glob("**/*.{ts,tsx}").scan(SRC)) {
    const source = await Bun.file(join(SRC, file)).text();
    for (const match of source.matchAll(IMPORT)) {
      const target = relative(SRC, await resolve(join(SRC, dirname(file)), match[1] ?? ""));
      if (target.startsWith("..") || !/\.tsx?$/.test(target)) continue;
      imports.push({ from: file, to: target, line: `${file} imports ${target}` });
    }
  }
  return imports;
}

async function resolve(folder: string, specifier: string): Promise<string> {
  const base = join(folder, specifier);
  for (const candidate of [base, `${base}.ts`, `${base}.tsx`, join(base, "index.ts")]) {
    if (await Bun.file(candidate).exists()) return candidate;
  }
  throw new Error(`nothing at ${base}`);
}

function floorOf(file: string): number {
  const floor = FLOORS.findIndex(({ files }) => files.test(file));
  if (floor === -1) throw new Error(`${file} is on no floor of the house`);
  return floor;
}

function roomOf(file: string): string | undefined {
  return /^features\/([^/]+)\//.exec(file)?.[1];
}

const imports = await readImports();

describe("the house", () => {
  test("every file stands on a floor, and imports go down, never up", () => {
    const up = imports.filter(({ from, to }) => floorOf(to) > floorOf(from));
    expect(up.map(({ line }) => line)).toEqual([]);
    expect(imports.length).toBeGreaterThan(100);
  });

  test("a room is entered through its index.ts, and its routes by app.ts alone", () => {
    const broken = imports.filter(({ from, to }) => {
      const room = roomOf(to);
      if (room === undefined || room === roomOf(from)) return false;
      if (to.endsWith("/routes.ts")) return from !== "app.ts";
      return to !== `features/${room}/index.ts`;
    });
    expect(broken.map(({ line }) => line)).toEqual([]);
  });

  test("rooms use only the neighbours that are allowed to them", () => {
    const broken = imports.filter(({ from, to }) => {
      const [user, used] = [roomOf(from), roomOf(to)];
      if (user === undefined || used === undefined || user === used) return false;
      return !NEIGHBOURS[user]?.includes(used);
    });
    expect(broken.map(({ line }) => line)).toEqual([]);
  });

  test("no import runs in a circle", () => {
    const graph = Map.groupBy(imports, ({ from }) => from);
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (file: string, trail: string[]): void => {
      if (trail.includes(file)) {
        circles.push([...trail.slice(trail.indexOf(file)), file].join(" → "));
        return;
      }
      if (done.has(file)) return;
      for (const { to } of graph.get(file) ?? []) walk(to, [...trail, file]);
      done.add(file);
    };
    for (const file of graph.keys()) walk(file, []);
    expect(circles).toEqual([]);
  });

  test("rules decide by their arguments: no clock, no database, no web framework", async () => {
    const broken: string[] = [];
    for await (const file of new Glob("features/*/rules.ts").scan(SRC)) {
      const source = await Bun.file(join(SRC, file)).text();
      if (
        /Date\.now|performance\.|from "(elysia|drizzle-orm|bun:sqlite)|\/db"|\/clock"/.test(source)
      ) {
        broken.push(file);
      }
    }
    expect(broken).toEqual([]);
  });

  test("SQL stands in stores, in db/ and in the outbox and audit log that belong to events/", async () => {
    const broken: string[] = [];
    for await (const file of new Glob("**/*.{ts,tsx}").scan(SRC)) {
      if (/^(db|events)\/|[/-]store\.ts$/.test(file)) continue;
      const source = await Bun.file(join(SRC, file)).text();
      if (/from "drizzle-orm|from "bun:sqlite"|\b(SELECT|INSERT INTO|DELETE FROM)\b/.test(source)) {
        broken.push(file);
      }
    }
    expect(broken).toEqual([]);
  });

  test("only routes, jobs and commands open a transaction", async () => {
    const openers: string[] = [];
    for await (const file of new Glob("**/*.{ts,tsx}").scan(SRC)) {
      const source = await Bun.file(join(SRC, file)).text();
      if (/db\s*\.write\(/.test(source)) openers.push(file);
    }
    // What a POST made and its kept answer are one transaction, for all routes alike: http/create-once.
    const allowed =
      /^cli\/|routes\.tsx?$|^server\.ts$|^housekeeping\.ts$|^admin\/write-as\.ts$|^http\/create-once\.ts$|^features\/(keys\/usage|auth\/last-seen|maintenance\/clock|monitors\/(engine\/recorder|rollup-clock)|webhooks\/deliver\/(errands|recorder))\.ts$/;
    expect(openers.filter((file) => !allowed.test(file))).toEqual([]);
  });

  test("only main.ts ends the process", async () => {
    const broken: string[] = [];
    for await (const file of new Glob("**/*.{ts,tsx}").scan(SRC)) {
      const source = await Bun.file(join(SRC, file)).text();
      if (source.includes("process.exit(") && file !== "main.ts") broken.push(file);
    }
    expect(broken).toEqual([]);
  });

  test("every room's index.ts opens by saying what lives there", async () => {
    for await (const file of new Glob("{features/*,db,events,errors,config,http,ui}/index.ts").scan(
      SRC,
    )) {
      const source = await Bun.file(join(SRC, file)).text();
      expect(source, file).toMatch(/^\/\*\*[\s\S]{40,}?\*\//);
    }
  });
});
