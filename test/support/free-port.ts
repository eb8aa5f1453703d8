import { createServer } from "node:net";

/** Ports below those that Linux gives to outgoing connections, so that none of them takes a free port again. */
const FIRST_PORT = 11_000;
const LAST_PORT = 32_000;

/** Returns a random port of loopback that is free now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
