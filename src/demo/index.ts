/**
 * The demo: an installation with a year of data, whose checks and webhooks are simulated. Only `allclear demo`
 * loads it.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../base/config/options";
import { loadConfig } from "../base/config/load";
import { OperatorError } from "../db/errors";
import { createPasswords } from "../features/auth/passwords";
import type { Scope } from "../features/keys/scopes";
import { openForServer } from "../installation";
import { systemClock } from "../base/clock";
import { startServer } from "../server";
import { fillDemo, OWNER_EMAIL } from "./fill";
import { createFraction, markPage } from "./year";
import { createDemoEgress, createSimulatedProbes, refuseImport, startJobs } from "./simulation";

const PASSWORD_BYTES = 12;

interface DemoOptions {
  /** Number on which the data depends. */
  seed: number;
  /** Folder that is kept at the end; a temporary one if undefined. */
  keep: string | undefined;
  /** Address, log level and public address of the server. */
  config: Pick<Config, "listen" | "logLevel" | "baseUrl">;
}

interface RunningDemo {
  url: string;
  email: string;
  password: string;
  /** Key values by scope. */
  keys: Record<Scope, string>;
  folder: string;
  /** Stops the server and deletes a temporary folder. */
  stop(): Promise<void>;
}

/**
 * Starts a demo. Throws an OperatorError if the folder to keep is not empty, or the address is in use; what
 * was written is then deleted.
 */
export async function startDemo({ seed, keep, config: given }: DemoOptions): Promise<RunningDemo> {
  if (keep !== undefined) requireEmpty(keep);
  const folder = keep ?? createTemporaryFolder();
  let isOwn = keep === undefined;
  try {
    const config = { ...demoConfig(folder), ...given };
    const password = randomBytes(PASSWORD_BYTES).toString("base64url");
    const passwordHash = await createPasswords().hash(password);
    // Its lock is exclusive: a demo that starts at the same time in the same folder ends here.
    const installation = openForServer(config);
    isOwn = true;
    let filled: Awaited<ReturnType<typeof fillDemo>>;
    try {
      filled = await fillDemo(installation, { seed, passwordHash });
    } finally {
      installation.close();
    }
    const clock = systemClock();
    const server = await startServer(config, {
      egress: createDemoEgress(),
      findProbe: createSimulatedProbes(clock, createFraction(`${seed}`)),
      runImport: refuseImport,
      decorate: markPage,
    });
    const timer = startJobs(clock, server.monitoring, filled.jobs);
    return {
      url: server.url,
      email: OWNER_EMAIL,
      password,
      keys: filled.keys,
      folder,
      async stop() {
        timer.cancel();
        try {
          await server.stop();
        } finally {
          if (keep === undefined) remove(folder);
        }
      },
    };
  } catch (error) {
    // A folder to keep was empty, so that all in it is of this demo, and would refuse the next one.
    if (keep === undefined) remove(folder);
    else if (isOwn) readdirSync(keep).forEach((name) => remove(join(keep, name)));
    throw error;
  }
}

function createTemporaryFolder(): string {
  const parent = tmpdir();
  try {
    return mkdtempSync(join(parent, "allclear-demo-"));
  } catch (error) {
    const { code = "no reason given" } = error as NodeJS.ErrnoException;
    const text = `A temporary folder cannot be created in ${parent} (${code}). Name one with --keep or TMPDIR.`;
    throw new OperatorError(text, error);
  }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** Returns the default settings: those of the environment are for other servers. */
function demoConfig(dataDir: string): Config {
  const loaded = loadConfig({ dataDir }, {});
  if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
  return loaded.config;
}

function requireEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) throw new OperatorError(`${folder} is not a directory.`);
  if (readdirSync(folder).length === 0) return;
  throw new OperatorError(`${folder} is not empty. A demo needs an empty or a new directory.`);
}
