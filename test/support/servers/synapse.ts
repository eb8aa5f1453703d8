/** Synapse, the homeserver of Matrix. `bun test/support/servers/synapse.ts` installs it. */
import { findPython, getPython } from "./python";
import { runCommand, type ServerProcess, startServer } from "./server-process";
import packages from "./synapse.txt" with { type: "text" };

/** Synapse and all that it needs, as `pip freeze` lists them: a new release of one must not break the tests. */
const PACKAGES = packages.trim().split("\n");

const SHARED_SECRET = "registers-users";

/** True if Synapse is installed. */
export const hasSynapse = findPython(PACKAGES) !== undefined;

/** Starts a homeserver without federation. */
export function startSynapse(): Promise<ServerProcess> {
  return startServer({
    async command({ folder, port }) {
      const config = {
        server_name: "matrix.test",
        listeners: [
          {
            port,
            bind_addresses: ["127.0.0.1"],
            type: "http",
            resources: [{ names: ["client"] }],
          },
        ],
        database: { name: "sqlite3", args: { database: `${folder}/homeserver.db` } },
        log_config: `${folder}/log.json`,
        signing_key_path: `${folder}/signing.key`,
        media_store_path: `${folder}/media`,
        registration_shared_secret: SHARED_SECRET,
        macaroon_secret_key: "macaroons",
        form_secret: "forms",
        trusted_key_servers: [],
        report_stats: false,
      };
      const log = { version: 1, root: { level: "WARNING", handlers: [] } };
      // YAML includes JSON.
      await Bun.write(`${folder}/homeserver.yaml`, JSON.stringify(config));
      await Bun.write(`${folder}/log.json`, JSON.stringify(log));
      const python = await getPython(PACKAGES);
      const options = ["--config-path", `${folder}/homeserver.yaml`];
      const command = [python, "-m", "synapse.app.homeserver", ...options];
      await runCommand([...command, "--generate-keys"]);
      return command;
    },
  });
}

/** A user of the homeserver, with a room. */
export interface MatrixRoom {
  token: string;
  roomId: string;
  /** Returns the texts of the messages in the room, oldest first. */
  messages(): Promise<string[]>;
}

/** Registers a user and creates a room. */
export async function createRoom({ port }: ServerProcess): Promise<MatrixRoom> {
  const call = async (method: string, path: string, json?: object, token = "") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      ...(json && { body: JSON.stringify(json) }),
    });
    // Tests read answers without types.
    // oxlint-disable-next-line typescript/no-explicit-any
    const body: any = await response.json();
    if (!response.ok) throw new Error(`${path} answered ${JSON.stringify(body)}`);
    return body;
  };
  const register = "/_synapse/admin/v1/register";
  const { nonce } = await call("GET", register);
  const [username, password] = ["status", "quite-private"];
  const mac = new Bun.CryptoHasher("sha1", SHARED_SECRET)
    .update([nonce, username, password, "notadmin"].join("\0"))
    .digest("hex");
  const user = { nonce, username, password, admin: false, mac };
  const { access_token: token } = await call("POST", register, user);
  const { room_id: roomId } = await call("POST", "/_matrix/client/v3/createRoom", {}, token);
  return {
    token,
    roomId,
    async messages() {
      const path = `/_matrix/client/v3/rooms/${encodeURIComponent(roomId)}/messages?dir=f&limit=100`;
      const { chunk } = await call("GET", path, undefined, token);
      return (chunk as { type: string; content: { body: string } }[])
        .filter(({ type }) => type === "m.room.message")
        .map(({ content }) => content.body);
    },
  };
}

if (import.meta.main) await getPython(PACKAGES);
