import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder";

/** Folder of an installed Uptime Kuma 2 with its modules; undefined without one. */
export const KUMA_DIR = process.env["UPTIME_KUMA_DIR"];

const USER = "admin";
const PASSWORD = "A long password 1";

interface Answer {
  ok: boolean;
  msg?: string;
  [field: string]: unknown;
}

interface Socket {
  emit(event: string, ...values: unknown[]): void;
  close(): void;
}

/** A running Uptime Kuma with one user. */
export interface RealKuma extends AsyncDisposable {
  /** Its data directory. */
  data: string;
  url: string;
  password: string;
  /** Value of `Authorization` for its metrics. */
  authorization: string;
  /** Sends an event, as its dashboard does. Throws for an answer that is not ok. */
  send(event: string, ...values: unknown[]): Promise<Answer>;
}

/** Starts the installed Uptime Kuma in a temporary folder on the loopback address. */
export async function startRealKuma(installed: string): Promise<RealKuma> {
  const folder = temporaryFolder();
  const data = join(folder.path, "data/");
  mkdirSync(data);
  writeFileSync(join(data, "db-config.json"), '{"type": "sqlite"}');
  const port = await freePort();
  const server = spawn(
    "node",
    ["server/server.js", `--data-dir=${data}`, `--port=${port}`, "--host=127.0.0.1"],
    { cwd: installed, env: { ...process.env, TZ: "UTC", NODE_ENV: "production" }, stdio: "ignore" },
  );
  const ended = once(server, "exit");
  let socket: Socket | undefined;
  const stop = async () => {
    socket?.close();
    server.kill("SIGTERM");
    await ended;
    folder[Symbol.dispose]();
  };
  try {
    const url = `http://127.0.0.1:${port}`;
    await untilAnswering(`${url}/api/entry-page`, () => server.exitCode !== null);
    const require = createRequire(join(installed, "package.json"));
    const { io } = require("socket.io-client") as { io: (address: string) => Socket };
    const connected = io(url);
    socket = connected;
    const send = (event: string, ...values: unknown[]) =>
      new Promise<Answer>((resolve, reject) => {
        connected.emit(event, ...values, (answer: Answer) => {
          if (answer.ok) resolve(answer);
          else reject(new Error(`${event}: ${answer.msg}`));
        });
      });
    await send("setup", USER, PASSWORD);
    await send("login", { username: USER, password: PASSWORD, token: "" });
    const authorization = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`;
    return { data, url, password: PASSWORD, authorization, send, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function freePort(): Promise<number> {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop();
  return port;
}

/** Resolves when an address answers JSON. Throws if the server has ended. */
async function untilAnswering(url: string, hasEnded: () => boolean): Promise<void> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop
    const isUp = await fetch(url).then(
      ({ ok, headers }) => ok && (headers.get("content-type") ?? "").includes("json"),
      () => false,
    );
    if (isUp) return;
    if (hasEnded()) throw new Error("Uptime Kuma has ended");
    // oxlint-disable-next-line no-await-in-loop
    await Bun.sleep(100);
  }
}
