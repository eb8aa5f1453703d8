import { REDIS_PASSWORD, startRedis as startServer } from "../servers/redis";
import type { CertificateName, ServerProcess } from "../servers/server-process";

/** A real Redis or Valkey on loopback. */
export interface RedisServer extends ServerProcess {
  /** Address with the password: `redis://:…@127.0.0.1:port`, or `rediss:` with a certificate. */
  url: string;
}

/** Starts a server that keeps nothing over a restart. */
export async function startRedis(certificate?: CertificateName): Promise<RedisServer> {
  const server = await startServer(certificate);
  const scheme = certificate === undefined ? "redis" : "rediss";
  return Object.assign(server, { url: `${scheme}://:${REDIS_PASSWORD}@127.0.0.1:${server.port}` });
}
