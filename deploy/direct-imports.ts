/**
 * Imports of the executable without detours: what a file imports from the `index.ts` of a module, it imports
 * from the file that declares it. Otherwise everything that a module exports would be evaluated with the
 * first of its exports: a start takes 46 instead of 54 ms of processor time.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";

interface Origin {
  file: string;
  name: string;
}

const IMPORT = /import\s+\{([^}]*)\}\s*from\s*"(\.[^"]*)";/g;
const EXPORT = /export\s+\{([^}]*)\}\s*from\s*"(\.[^"]*)";/g;

export function directImports(): BunPlugin {
  const reexports = new Map<string, Map<string, Origin>>();

  /** Returns where the names that an `index.ts` passes on are declared; empty for other files. */
  function originsIn(file: string): Map<string, Origin> {
    const known = reexports.get(file);
    if (known) return known;
    const origins = new Map<string, Origin>();
    reexports.set(file, origins);
    if (!file.endsWith("/index.ts")) return origins;
    for (const [, names = "", path = ""] of readFileSync(file, "utf8").matchAll(EXPORT)) {
      const target = resolve(file, path);
      if (target === undefined) continue;
      for (const { name, as } of valuesIn(names)) {
        origins.set(as, originsIn(target).get(name) ?? { file: target, name });
      }
    }
    return origins;
  }

  function direct(file: string, source: string): string {
    return source.replace(IMPORT, (whole, names: string, path: string) => {
      const target = resolve(file, path);
      const origins = target === undefined ? undefined : originsIn(target);
      if (!origins || origins.size === 0) return whole;
      return valuesIn(names)
        .map(({ name, as }) => {
          const origin = origins.get(name) ?? { file: target, name };
          return `import { ${origin.name} as ${as} } from ${JSON.stringify(origin.file)};`;
        })
        .join(" ");
    });
  }

  return {
    name: "direct imports",
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.tsx?$/ }, ({ path }) => ({
        contents: direct(path, readFileSync(path, "utf8")),
        loader: path.endsWith("x") ? "tsx" : "ts",
      }));
    },
  };
}

/** Returns the names in the braces of an import or export, without types. */
function valuesIn(names: string): { name: string; as: string }[] {
  return names
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && !part.startsWith("type "))
    .map((part) => {
      const [name = "", as = name] = part.split(/\s+as\s+/);
      return { name, as };
    });
}

function resolve(from: string, path: string): string | undefined {
  const base = join(dirname(from), path);
  return [base, `${base}.ts`, `${base}.tsx`, join(base, "index.ts")].find(
    (file) => existsSync(file) && statSync(file).isFile(),
  );
}
