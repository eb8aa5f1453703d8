import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, type ServerProcess, startServer } from "../servers/server-process";

/** Writes the configuration of a proxy that listens on a port and keeps its files in a folder. */
type Configuration = (place: { port: number; folder: string }) => string;

/**
 * Starts nginx with the content of an `http` block. Its cache and temporary files belong into the folder; the access log
 * is off.
 */
export function startNginx(http: Configuration): Promise<ServerProcess> {
  return startServer({
    stop: "SIGQUIT",
    command({ folder, port }) {
      const file = join(folder, "nginx.conf");
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      writeFileSync(
        file,
        `daemon off;
pid nginx.pid;
error_log stderr warn;
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${name};`).join(" ")}
  ${http({ port, folder })}
}
`,
      );
      return [findProgram("nginx") ?? "", "-p", folder, "-c", file, "-e", "stderr"];
    },
  });
}

/** Starts HAProxy with its whole configuration. */
export function startHaproxy(configuration: Configuration): Promise<ServerProcess> {
  return startServer({
    command({ folder, port }) {
      const file = join(folder, "haproxy.cfg");
      writeFileSync(file, configuration({ port, folder }));
      return [findProgram("haproxy") ?? "", "-db", "-f", file];
    },
  });
}
