import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { tryFileLock } from "../../../src/db/data-directory";
import { findProgram } from "../servers/server-process";
import { getToolchain } from "./go-toolchain";

/** Oldest version of Go that gets a newer one by itself. */
const MINOR_MIN = 21;

/** Longest build of another test that is waited for, in ms. */
const BUILD_MAX_MS = 20 * 60_000;

/** Time in ms for which a failed build is not tried again: without a network each try takes long. */
const RETRY_MS = 60 * 60_000;

/** Folder of built programs, outside of the repository. It is kept between runs. */
export const CACHE =
  process.env["ALLCLEAR_TEST_CACHE"] ?? join(homedir(), ".cache", "allclear-tests");

interface GoModule {
  module: string;
  version: string;
  /** Further modules of its repository, with the versions that belong to it. */
  parts?: readonly string[];
}

/** Programs that are built from Go modules. */
const MODULES = {
  litestream: { module: "github.com/benbjohnson/litestream", version: "v0.5.18" },
  gofakes3: { module: "github.com/johannesboyne/gofakes3", version: "v1.2.0" },
  versitygw: { module: "github.com/versity/versitygw", version: "v1.8.0" },
  // Version 2.44.0, whose tag is no version of a Go module, with the module of its API that it was released with.
  dex: {
    module: "github.com/dexidp/dex",
    version: "v0.0.0-20250829100637-2dce75009acf",
    parts: ["github.com/dexidp/dex/api/v2@v2.4.0"],
  },
  caddy: { module: "github.com/caddyserver/caddy/v2", version: "v2.11.7" },
} satisfies Record<string, GoModule>;

export type GoProgram = keyof typeof MODULES;

export const GO_PROGRAMS = Object.keys(MODULES) as GoProgram[];

/**
 * Returns the path of a program. The first call on a machine builds it, which takes minutes. Throws if it cannot, and
 * for an hour after that at once unless `isForced` is true.
 */
export async function getGoProgram(name: GoProgram, isForced = false): Promise<string> {
  const { version } = MODULES[name];
  const folder = join(CACHE, `${name}-${version}`);
  const program = join(folder, name);
  if (existsSync(program)) return program;
  if (!isForced) requireNoFailure(failureOf(folder));
  mkdirSync(CACHE, { recursive: true });
  // Tests run in several processes. A build uses all cores, so the next one waits for it.
  const lock = tryFileLock(join(CACHE, ".lock"), BUILD_MAX_MS);
  if (!lock) throw new Error("another build does not end");
  try {
    if (existsSync(program)) return program;
    // Another process may have failed meanwhile.
    if (!isForced) requireNoFailure(failureOf(folder));
    await build(MODULES[name], name, folder);
    rmSync(failureOf(folder), { force: true });
    return program;
  } catch (error) {
    writeFileSync(failureOf(folder), (error as Error).message);
    throw error;
  } finally {
    lock.close(true);
  }
}

function failureOf(folder: string): string {
  return `${folder}.failed`;
}

/** Throws the message of a failed build of the last hour. */
function requireNoFailure(file: string): void {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (age < RETRY_MS) throw new Error(readFileSync(file, "utf8"));
}

async function build(
  { module, version, parts = [] }: GoModule,
  name: string,
  folder: string,
): Promise<void> {
  const target = `${module}/cmd/${name}`;
  console.warn(`Building ${target}@${version} for the tests, once on this machine.`);
  const unfinished = mkdtempSync(join(CACHE, ".build-"));
  const program = await findGo();

  async function go(...args: string[]): Promise<void> {
    const child = Bun.spawn([program, ...args], {
      cwd: unfinished,
      env: {
        ...process.env,
        GOFLAGS: "",
        GOPROXY: process.env["GOPROXY"] ?? "https://proxy.golang.org",
        // No program needs a C compiler.
        CGO_ENABLED: "0",
      },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    if ((await child.exited) !== 0) {
      throw new Error(`go ${args.join(" ")} failed: ${output}${errors}`);
    }
  }

  try {
    // `go install` refuses a module that replaces another one, which a module of its own ignores.
    await go("mod", "init", "allclear.test/build");
    await go("get", `${target}@${version}`, ...parts);
    await go("build", "-trimpath", "-o", name, target);
    mkdirSync(folder, { recursive: true });
    renameSync(join(unfinished, name), join(folder, name));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Returns the path of Go, which is downloaded if this machine has none or too old a one. */
export async function findGo(): Promise<string> {
  const installed = findProgram("go");
  if (installed !== undefined) {
    const version = await new Response(Bun.spawn([installed, "version"]).stdout).text();
    if (Number(/go1\.(\d+)/.exec(version)?.[1] ?? 0) >= MINOR_MIN) return installed;
  }
  return getToolchain(CACHE);
}
