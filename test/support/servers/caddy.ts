import { getGoProgram } from "../fleet/go";
import { type ServerProcess, startServer } from "./server-process";

/** Starts Caddy with a file that `write` returns for the address of its site, such as `http://127.0.0.1:4711`. */
export async function startCaddy(
  write: (address: string) => string,
): Promise<ServerProcess & { address: string }> {
  const program = await getGoProgram("caddy");
  let address = "";
  const server = await startServer({
    async command({ folder, port }) {
      address = `http://127.0.0.1:${port}`;
      // Nothing of it is kept, and nothing leaves this machine.
      const options = "{\n\tadmin off\n\tauto_https off\n\tpersist_config off\n}\n\n";
      await Bun.write(`${folder}/Caddyfile`, options + write(address));
      return [program, "run", "--config", "Caddyfile", "--adapter", "caddyfile"];
    },
    ready: /serving initial configuration/,
    env: { HOME: undefined, XDG_CONFIG_HOME: "/nonexistent", XDG_DATA_HOME: "/nonexistent" },
  });
  return Object.assign(server, { address });
}
