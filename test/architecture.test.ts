import { describe, expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";

const SRC = join(import.meta.dir, "..", "src");

/** Layers from the lowest to the highest, as patterns of paths below src/. Imports never go up. */
const LAYERS: readonly { name: string; files: RegExp }[] = [
  { name: "base", files: /^(base|languages)\/|^version\.ts$|\.d\.ts$/ },
  {
    name: "db, events, egress, object-store, context",
    files: /^(db|events|egress|object-store)\/|^context\.ts$/,
  },
  {
    name: "rules, wire, stores and verbs of features",
    files: /^(features|imports)\/(?!.*[/-](routes|api)\.ts$|(.*\/)?screens[./])/,
  },
  { name: "http", files: /^http\// },
  { name: "routes", files: /^features\/[^/]+\/(([a-z]+-)?routes|api)\.ts$/ },
  { name: "ui", files: /^ui\/(?!forms|screens|frame)/ },
  { name: "public", files: /^public\// },
  {
    name: "dashboard",
    files: /^imports\/screens[./]|^ui\/(forms|screens|frame)\/|^features\/.*\/screens[./]/,
  },
  {
    name: "app, pages, other-routes, dashboard, background, listening",
    files: /^(app|pages|other-routes|dashboard|background|listening)\.ts$/,
  },
  {
    name: "installation, first-run, server, agent, fleet, mirror",
    files: /^(installation|first-run|server)\.ts$|^(agent|fleet|mirror)\//,
  },
  { name: "demo", files: /^demo\// },
  { name: "cli", files: /^cli\// },
  { name: "main", files: /^main\.ts$/ },
];

/** Feature modules that a feature module may import. */
const DEPENDENCIES: Record<string, readonly string[]> = {
  components: ["pages"],
  timeline: [],
  incidents: ["pages", "components", "timeline"],
  "incident-templates": ["pages", "components", "incidents", "timeline"],
  maintenance: ["pages", "components", "timeline"],
  locations: ["keys"],
  monitors: [
    "alarms",
    "pages",
    "components",
    "incidents",
    "locations",
    "maintenance",
    "settings",
    "webhooks",
  ],
  analytics: ["pages", "components", "incidents", "locations", "monitors", "keys"],
  reports: [
    "analytics",
    "pages",
    "components",
    "incidents",
    "maintenance",
    "monitors",
    "status",
    "mail",
    "webhooks",
  ],
  metrics: ["alarms", "locations", "monitors", "keys", "limits", "mail", "subscribers", "webhooks"],
  status: ["pages", "components", "timeline", "incidents", "maintenance", "monitors"],
  compat: ["pages", "monitors", "status"],
  mcp: ["incidents", "monitors", "status", "timeline"],
  // What belongs to a page is above pages.
  "pages/deletion.ts": [
    "pages",
    "components",
    "incidents",
    "incident-templates",
    "maintenance",
    "monitors",
    "webhooks",
  ],
  // Tokens and passwords of visitors are made like those of users, and links expire like keys.
  "pages/access.ts": ["auth", "keys", "settings"],
  "pages/file.ts": ["auth"],
  "pages/visits.ts": ["auth", "settings"],
  apply: [
    "pages",
    "components",
    "incident-templates",
    "locations",
    "maintenance",
    "monitors",
    "webhooks",
  ],
  "docker-labels": ["apply", "monitors"],
  imports: [
    "settings",
    "pages",
    "components",
    "timeline",
    "incidents",
    "maintenance",
    "monitors",
    "webhooks",
    "compat",
  ],
  pages: [],
  keys: ["limits"],
  limits: [],
  repeats: [],
  auth: ["limits"],
  users: ["auth", "mail", "sending", "settings"],
  settings: [],
  alarms: ["settings"],
  backups: ["alarms", "settings"],
  sending: [],
  webhooks: ["pages", "sending", "mail"],
  mail: ["sending", "settings"],
  subscribers: ["pages", "components", "incidents", "mail", "sending"],
  mailings: ["pages", "components", "incidents", "maintenance", "mail", "subscribers", "timeline"],
};

/** Files of the dashboard that contain `catch`: one per mechanism that all areas share. */
const CATCHING = [
  // Combines the errors of a form with those of the service.
  "ui/forms/form.ts",
  // Rolls back a preview.
  "ui/frame/changes.ts",
  // Finds out if a stale form would change anything.
  "ui/screens/form-routes.ts",
  // Answers errors with a screen.
  "ui/screens/routes.ts",
  // Shows code for receivers of webhooks.
  "features/webhooks/screens/webhooks.tsx",
];

interface Import {
  from: string;
  to: string;
  line: string;
}

const IMPORT = /^(?:import|export)\s[^;]*?from\s+"(\.[^"]+)"/gms;
/** A file that is loaded when it is needed. */
const LOADED = /\bimport\(\s*"(\.[^"]+)"/g;

async function readImports(pattern: RegExp): Promise<Import[]> {
  const imports: Import[] = [];
  for await (const file of new Glob("**/*.{ts,tsx}").scan(SRC)) {
    const source = await Bun.file(join(SRC, file)).text();
    for (const match of source.matchAll(pattern)) {
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

function layerOf(file: string): number {
  const layer = LAYERS.findIndex(({ files }) => files.test(file));
  if (layer === -1) throw new Error(`${file} belongs to no layer`);
  return layer;
}

function moduleOf(file: string): string | undefined {
  return /^features\/([^/]+)\//.exec(file)?.[1];
}

const imports = await readImports(IMPORT);

describe("the architecture", () => {
  test("every file belongs to a layer, and no import goes up", () => {
    const up = imports.filter(({ from, to }) => layerOf(to) > layerOf(from));
    expect(up.map(({ line }) => line)).toEqual([]);
    expect(imports.length).toBeGreaterThan(100);
  });

  test("no file only passes on the exports of others", async () => {
    const barrels: string[] = [];
    for await (const file of new Glob("**/index.{ts,tsx}").scan(SRC)) {
      const source = await Bun.file(join(SRC, file)).text();
      const rest = source.replace(/\/\*.*?\*\/|export (type )?(\*|\{[^}]*\}) from "[^"]*";/gs, "");
      if (rest.trim() === "") barrels.push(file);
    }
    expect(barrels).toEqual([]);
  });

  test("the routes of a feature are imported by app.ts, pages.ts and other-routes.ts alone", () => {
    const importers = ["app.ts", "pages.ts", "other-routes.ts"];
    const broken = imports.filter(({ from, to }) => {
      if (!to.endsWith("/routes.ts") || moduleOf(to) === undefined) return false;
      return moduleOf(to) !== moduleOf(from) && !importers.includes(from);
    });
    expect(broken.map(({ line }) => line)).toEqual([]);
  });

  test("feature modules import only the modules that the table allows", () => {
    const broken = imports.filter(({ from, to }) => {
      const [user, used] = [moduleOf(from), moduleOf(to)];
      // Screens show what belongs together for a person.
      if (/\/screens[./]/.test(from)) return false;
      if (user === undefined || used === undefined || user === used) return false;
      // Its part of the configuration file, which `apply` puts together: a page holds components, those hold monitors.
      if (from.endsWith("/file.ts") && (used === "apply" || to.endsWith("/file.ts"))) return false;
      const allowed = DEPENDENCIES[from.slice("features/".length)] ?? DEPENDENCIES[user];
      return !allowed?.includes(used);
    });
    expect(broken.map(({ line }) => line)).toEqual([]);
  });

  test("imports form no cycle, nor with files that are loaded when they are needed", async () => {
    // The executable loses a file that loads itself.
    const graph = Map.groupBy([...imports, ...(await readImports(LOADED))], ({ from }) => from);
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

  test("rules depend on their arguments alone: no clock, no database, no web framework", async () => {
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

  test("SQL appears only in stores, db/ and events/, except for databases of others", async () => {
    const broken: string[] = [];
    for await (const file of new Glob("**/*.{ts,tsx}").scan(SRC)) {
      if (/^(db|events)\/|[/-]store\.ts$/.test(file)) continue;
      if (
        /^features\/monitors\/screens\/types\.tsx$|^(features\/monitors\/probes|imports\/(?:gatus|uptime-kuma))\/|^imports\/foreign-database\.ts$/.test(
          file,
        )
      )
        continue;
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
    // http/changes runs the handlers of routes that create or change one object, http/identity-proxy begins sessions.
    const allowed =
      /^(cli|demo)\/|^agent\/monitors\.ts$|(routes|api)\.tsx?$|\/screens\/|^first-run\.ts$|^fleet\/(usage|primary\/primaryship)\.ts$|^imports\/history\/write\.ts$|^background\.ts$|^ui\/frame\/changes\.ts$|^public\/(mail|subscribe)\.tsx$|^http\/(changes|identity-proxy)\.ts$|^features\/(alarms\/alarms|backups\/scheduler|docker-labels\/docker-labels|keys\/usage|auth\/sessions|maintenance\/clock|mailings\/mailings|mail\/settings|pages\/(visits|notices)|monitors\/(engine\/(agent-results|alerts|incidents|network|results|presences)|rollup|via)|sending\/(results|loop|waiting-rows)|reports\/mails|users\/(mails|letters))\.ts$/;
    expect(openers.filter((file) => !allowed.test(file))).toEqual([]);
  });

  test("errors in the dashboard are caught only by the mechanisms that all areas share", async () => {
    const catching: string[] = [];
    for await (const file of new Glob("**/*.{ts,tsx}").scan(SRC)) {
      if (LAYERS[layerOf(file)]?.name !== "dashboard") continue;
      const source = await Bun.file(join(SRC, file)).text();
      if (/\bcatch\s*[({]/.test(source)) catching.push(file);
    }
    expect(catching.sort()).toEqual([...CATCHING].sort());
  });

  test("only main.ts ends the process", async () => {
    const broken: string[] = [];
    for await (const file of new Glob("**/*.{ts,tsx}").scan(SRC)) {
      const source = await Bun.file(join(SRC, file)).text();
      if (source.includes("process.exit(") && file !== "main.ts") broken.push(file);
    }
    expect(broken).toEqual([]);
  });
});
