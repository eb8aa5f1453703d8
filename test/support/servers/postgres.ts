import { certificateText } from "../raw-server";
import {
  findProgram,
  giveAway,
  runCommand,
  type ServersByCertificate,
  startByCertificate,
  startServer,
  withoutRights,
  words,
} from "./server-process";

export const POSTGRES_PASSWORD = "postgres-s3cret";

/** Programs that the servers need. */
export const POSTGRES_PROGRAMS = ["postgres", "initdb"];

/** Starts PostgreSQL servers with the user `monitor` and the database `postgres`, which offer TLS. */
export function startPostgres(): Promise<ServersByCertificate> {
  return startByCertificate(initialise, (certificate, shared) =>
    startServer({
      ready: /database system is ready to accept connections/,
      stop: "SIGINT",
      async command({ folder, port }) {
        const data = `${folder}/data`;
        await runCommand(["cp", "-R", `${shared}/data`, data]);
        await Bun.write(`${data}/server.pem`, await certificateText(certificate));
        await runCommand(["chmod", "600", `${data}/server.pem`]);
        await giveAway(folder);
        return withoutRights(
          words(`${findProgram("postgres")} -D ${data} -c fsync=off -c port=${port}
            -c listen_addresses=127.0.0.1 -c unix_socket_directories=
            -c ssl=on -c ssl_cert_file=server.pem -c ssl_key_file=server.pem`),
        );
      },
    }),
  );
}

async function initialise(folder: string): Promise<void> {
  await Bun.write(`${folder}/password`, POSTGRES_PASSWORD);
  await giveAway(folder);
  const initdb = words(`${findProgram("initdb")} --pgdata ${folder}/data --username monitor
    --pwfile ${folder}/password --auth scram-sha-256 --no-sync --no-locale --encoding UTF8`);
  await runCommand(withoutRights(initdb));
}
