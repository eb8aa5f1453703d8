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

export const MARIADB_PASSWORD = "mariadb-s3cret";

/** Programs that the servers need. */
export const MARIADB_PROGRAMS = ["mariadbd", "mariadb-install-db"];

const SET_UP = `
CREATE DATABASE app;
CREATE TABLE app.jobs (id INT);
CREATE USER 'monitor'@'%' IDENTIFIED BY '${MARIADB_PASSWORD}';
GRANT ALL ON app.* TO 'monitor'@'%';
CREATE DEFINER='monitor'@'%' PROCEDURE app.count_jobs() SELECT 7, 8 UNION SELECT 9, 10;
CREATE DEFINER='monitor'@'%' PROCEDURE app.nothing() SET @nothing = 1;
`;

/** Starts MariaDB servers with the user `monitor` and the database `app`, which offer TLS. */
export function startMariadb(): Promise<ServersByCertificate> {
  return startByCertificate(initialise, (certificate, shared) =>
    startServer({
      ready: /ready for connections/,
      async command({ folder, port }) {
        const data = `${folder}/data`;
        await runCommand(["cp", "-R", `${shared}/data`, data]);
        await Bun.write(`${folder}/set-up.sql`, SET_UP);
        const pem = await certificateText(certificate);
        const key = pem.indexOf("-----BEGIN EC PRIVATE KEY-----");
        await Bun.write(`${folder}/cert.pem`, pem.slice(0, key));
        await Bun.write(`${folder}/key.pem`, pem.slice(key));
        await giveAway(folder);
        return withoutRights(
          words(`${findProgram("mariadbd")} --no-defaults --datadir=${data}
            --socket=${folder}/socket --bind-address=127.0.0.1 --port=${port}
            --skip-name-resolve --init-file=${folder}/set-up.sql
            --innodb-buffer-pool-size=16M
            --ssl-cert=${folder}/cert.pem --ssl-key=${folder}/key.pem`),
        );
      },
    }),
  );
}

async function initialise(folder: string): Promise<void> {
  await giveAway(folder);
  const install = words(`${findProgram("mariadb-install-db")} --no-defaults
    --datadir=${folder}/data --skip-test-db --skip-name-resolve
    --auth-root-authentication-method=normal`);
  await runCommand(withoutRights(install));
}
