import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { S3Address, StoreCredentials } from "../../../src/base/store-address";
import { type LeaderStore, signRecords } from "../../../src/fleet/leader";
import { systemClock } from "../../../src/base/clock";
import { openObjectStore } from "../../../src/object-store/open";
import type { StoreDependencies } from "../../../src/object-store/object-store";
import { startServer, type ServerProcess } from "../servers/server-process";
import { getGoProgram } from "./go";
import { FLEET_SECRET } from "./nodes";

export const S3_SERVERS = ["gofakes3", "versitygw"] as const;
export type S3ServerName = (typeof S3_SERVERS)[number];

const BUCKET = "allclear-test";
const REGION = "us-east-1";
const CREDENTIALS: StoreCredentials = { keyId: "TESTKEYID", secret: "s3cret-of-the-store" };

/** A real S3-compatible server on loopback with one bucket, whose objects survive a restart. */
export interface S3Server extends ServerProcess {
  /** `http://127.0.0.1:port`. */
  endpoint: string;
  credentials: StoreCredentials;
  /** Environment in which Litestream has the credentials. */
  env: Record<string, string>;
  /** Returns the address of a path in the bucket, as an operator writes it. `at` can be another place that leads to it. */
  urlOf(path: string, at?: { host?: string; port?: number }): string;
  addressOf(path: string, port?: number): S3Address;
  /** Opens a path of the bucket with the machine's clock. */
  open(path: string, deps?: Partial<StoreDependencies>, port?: number): LeaderStore;
  /** Folder of the bucket, in which versitygw keeps each object as a file. */
  objects: string;
}

/** Starts an S3 server. gofakes3 checks no signature; versitygw does. */
export async function startS3(name: S3ServerName = "versitygw"): Promise<S3Server> {
  const program = await getGoProgram(name);
  const server = await startServer({
    command({ folder, port }) {
      if (name === "gofakes3") {
        const storage = ["-backend", "bolt", "-bolt.db", join(folder, "objects.db")];
        const listen = ["-host", `127.0.0.1:${port}`, "-initialbucket", BUCKET, "-quiet"];
        return [program, ...storage, ...listen];
      }
      mkdirSync(join(folder, "buckets", BUCKET), { recursive: true });
      mkdirSync(join(folder, "facts"));
      const listen = ["--port", `127.0.0.1:${port}`, "--region", REGION, "--keep-alive", "--quiet"];
      const access = ["--access", CREDENTIALS.keyId, "--secret", CREDENTIALS.secret];
      const storage = ["posix", "--sidecar", join(folder, "facts"), join(folder, "buckets")];
      return [program, ...listen, ...access, ...storage];
    },
  });
  const endpointOf = (port = server.port) => `http://127.0.0.1:${port}`;
  const addressOf = (path: string, port?: number): S3Address => ({
    kind: "s3",
    bucket: BUCKET,
    path,
    region: REGION,
    endpoint: endpointOf(port),
  });
  return Object.assign(server, {
    endpoint: endpointOf(),
    credentials: CREDENTIALS,
    env: {
      AWS_ACCESS_KEY_ID: CREDENTIALS.keyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secret,
    },
    urlOf: (path: string, { host = "127.0.0.1", port = server.port } = {}) =>
      `s3://${BUCKET}/${path}?endpoint=http://${host}:${port}&region=${REGION}`,
    addressOf,
    open: (path: string, deps: Partial<StoreDependencies> = {}, port?: number) =>
      signRecords(
        openObjectStore(addressOf(path, port), CREDENTIALS, { clock: systemClock(), ...deps }),
        FLEET_SECRET,
      ),
    objects: join(server.folder, "buckets", BUCKET),
  });
}
