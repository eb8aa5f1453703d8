import { lazy } from "../../../src/base/lazy";
import { certificateText } from "../raw-server";
import { type CertificateName, findProgram, startServer, words } from "./server-process";

export const REDIS_PASSWORD = "redis-s3cret";

/** Path of Valkey; of Redis, with a message, where only that is installed. */
const serverPath = lazy(() => {
  const valkey = findProgram("valkey-server");
  if (valkey === undefined) console.warn("valkey-server is not installed: redis-server is tested.");
  return valkey ?? findProgram("redis-server");
});

/** Starts a Valkey or Redis server with a password, on a plain port or with TLS. */
export function startRedis(certificate?: CertificateName) {
  return startServer({
    ready: /Ready to accept connections/,
    async command({ folder, port }) {
      const pem = certificate && (await certificateText(certificate));
      if (pem) await Bun.write(`${folder}/server.pem`, pem);
      const listen = pem
        ? `--port 0 --tls-port ${port} --tls-auth-clients no --tls-cert-file server.pem
          --tls-key-file server.pem --tls-ca-cert-file server.pem`
        : `--port ${port}`;
      return words(`${serverPath()} --bind 127.0.0.1
        --dir ${folder} --daemonize no ${listen} --requirepass ${REDIS_PASSWORD}
        --user monitor on >${REDIS_PASSWORD} +ping +role +select`);
    },
  });
}
