/**
 * Generator of clients, and the languages in which they are compiled. They are kept outside of the repository between
 * runs. `bun test/support/clients/generators.ts` gets all of them; it fails if one cannot be had.
 */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { tryFileLock } from "../../../src/db/data-directory";
import { CACHE, findGo } from "../fleet/go";
import { getPython } from "../servers/python";
import { findProgram } from "../servers/server-process";

const VERSION = "7.14.0";
const JAR_URL = `https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/${VERSION}/openapi-generator-cli-${VERSION}.jar`;
const JAR_SHA256 = "e03186835022ca02da4aa95e3967b6a3b6d44c2e5f7606e6d5c22466f519c757";

/** Packages that a generated client of Python imports. */
const PACKAGES = [
  "urllib3==2.8.0",
  "python-dateutil==2.9.0.post0",
  "pydantic==2.14.4",
  "typing-extensions==4.16.0",
];

/** Longest download and longest wait for one of another test, in ms. */
const DOWNLOAD_MAX_MS = 5 * 60_000;

export interface Generators {
  /** Command that starts openapi-generator. */
  openapi: readonly string[];
  go: string;
  python: string;
}

/** Returns the programs, which the first call on a machine downloads. Throws if one cannot be had. */
export async function getGenerators(): Promise<Generators> {
  const java = findProgram("java");
  if (java === undefined) throw new Error("The program java is not installed.");
  mkdirSync(CACHE, { recursive: true });
  const lock = tryFileLock(join(CACHE, ".generators-lock"), DOWNLOAD_MAX_MS);
  if (!lock) throw new Error("another download does not end");
  try {
    const jar = await getJar();
    const python = await getPython(PACKAGES);
    // The client compiler takes most of the time of the short runs of Java.
    const openapi = [java, "-XX:TieredStopAtLevel=1", "-jar", jar, "generate"];
    return { openapi, go: await findGo(), python };
  } finally {
    lock.close(true);
  }
}

async function getJar(): Promise<string> {
  const jar = join(CACHE, `openapi-generator-cli-${VERSION}.jar`);
  if (existsSync(jar)) return jar;
  const response = await fetch(JAR_URL, { signal: AbortSignal.timeout(DOWNLOAD_MAX_MS) });
  if (!response.ok) throw new Error(`${JAR_URL} answered ${response.status}`);
  const bytes = await response.arrayBuffer();
  const hash = Bun.SHA256.hash(bytes, "hex");
  if (hash !== JAR_SHA256) throw new Error(`${JAR_URL} has the SHA-256 ${hash}`);
  await Bun.write(`${jar}.unfinished`, bytes);
  renameSync(`${jar}.unfinished`, jar);
  return jar;
}

/** Runs a command and returns its output. Throws what it wrote if it fails. */
export async function run(
  command: readonly string[],
  { cwd, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${output}${errors}`);
  return output;
}

if (import.meta.main) await getGenerators();
