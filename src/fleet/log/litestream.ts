import { resolve } from "node:path";
import { OperatorError } from "../../db/errors";
import type { StoreAddress, StoreCredentials } from "../../base/store-address";
import { environmentWithoutSettings } from "../../base/own-program";

/** Litestream's program, and the store that it writes to and reads from. */
export interface LitestreamSetup {
  /** Path of the program, or its name on PATH. */
  program: string;
  store: StoreAddress;
  credentials: StoreCredentials | undefined;
  /** Path of a file with authorities that are trusted in addition. */
  caFile?: string | undefined;
}

/** First version that is tested, and the first that is not. */
const FIRST_VERSION = [0, 5, 18] as const;
const NEXT_VERSION = [0, 6, 0] as const;

const VERSION = /\bv?(\d+)\.(\d+)\.(\d+)/;

/** Time in ms for printing the version. */
const VERSION_MAX_MS = 10_000;

/** Throws an OperatorError unless the program is a tested version of Litestream. */
export async function requireLitestream(program: string): Promise<void> {
  let output = "";
  try {
    const child = Bun.spawn([program, "version"], {
      env: environmentOf(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: VERSION_MAX_MS,
    });
    output = (await new Response(child.stdout).text()).trim().slice(0, 100);
  } catch (error) {
    throw new OperatorError(
      `Litestream cannot be started as ${program}. Install version ${FIRST_VERSION.join(".")}, or name its path with --litestream.`,
      error,
    );
  }
  const version = VERSION.exec(output)?.slice(1).map(Number);
  const isTested =
    version && compare(version, FIRST_VERSION) >= 0 && compare(version, NEXT_VERSION) < 0;
  if (isTested) return;
  throw new OperatorError(
    `${program} is Litestream ${output || "of an unknown version"}. Allclear needs ${FIRST_VERSION.join(".")} or a later 0.5.`,
  );
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, number] of a.entries()) {
    const difference = number - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Returns the environment of Litestream: that of this process without its settings and without settings of Amazon's
 * tools, such as AWS_CA_BUNDLE, with which Litestream does not start.
 */
export function environmentOf({
  credentials,
  caFile,
}: Partial<Pick<LitestreamSetup, "credentials" | "caFile">> = {}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(environmentWithoutSettings())) {
    const isOfLitestream = /^(?:AWS|LITESTREAM)_|^LOG_LEVEL$/.test(name);
    if (value !== undefined && !isOfLitestream) environment[name] = value;
  }
  if (credentials) {
    environment["LITESTREAM_ACCESS_KEY_ID"] = credentials.keyId;
    environment["LITESTREAM_SECRET_ACCESS_KEY"] = credentials.secret;
  }
  // Authorities in the directories of the system stay trusted.
  if (caFile !== undefined) environment["SSL_CERT_FILE"] ??= resolve(caFile);
  return environment;
}

/** Returns the settings of a log in the store, for Litestream's configuration. */
export function replicaSettings(store: StoreAddress, prefix: string): Record<string, unknown> {
  if (store.kind === "folder") return { type: "file", path: `${store.path}/${prefix}` };
  const { bucket, region, endpoint, path } = store;
  const server = endpoint === undefined ? {} : { endpoint, "force-path-style": true };
  return { type: "s3", bucket, region, ...server, path: [path, prefix].filter(Boolean).join("/") };
}

/** Returns the beginning of the keys of a level of a log in the store, without the path of the store's address. */
export function levelPrefix(store: StoreAddress, prefix: string, level: number): string {
  const folder = store.kind === "folder" ? `ltx/${level}` : level.toString(16).padStart(4, "0");
  return `${prefix}/${folder}/`;
}
