import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** A link on loopback to a server, which a test cuts or stalls. Disposing it closes all connections. */
export interface Link extends AsyncDisposable {
  port: number;
  /** Closes all connections, and refuses new ones until `mend`. */
  cut(): Promise<void>;
  /** Passes nothing on, in either direction, until `mend`; connections are accepted. What was sent arrives then. */
  stall(): void;
  /** Passes on again what arrives. */
  mend(): Promise<void>;
  /** Closes each connection after it has passed on this number of bytes from the server; undefined for no limit. */
  truncateAfter(bytes: number | undefined): void;
  /** Returns the number of connections that were opened. */
  connections(): number;
}

/** Opens a link on a free port to a port of loopback. */
export async function startLink(target: number): Promise<Link> {
  const open = new Set<Socket>();
  let accepted = 0;
  let isStalled = false;
  let limit: number | undefined;
  const each = (change: (socket: Socket) => void) => open.forEach(change);

  function keep(socket: Socket): void {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
  }

  function pass(from: Socket, to: Socket, isAnswer: boolean): void {
    let passed = 0;
    from.on("data", (bytes: Buffer) => {
      const left = isAnswer && limit !== undefined ? limit - passed : Infinity;
      passed += bytes.length;
      const hasRoom = to.write(bytes.length > left ? bytes.subarray(0, Math.max(0, left)) : bytes);
      if (bytes.length > left) {
        to.end(() => from.destroy());
      } else if (!hasRoom) {
        from.pause();
      }
    });
    to.on("drain", () => {
      if (!isStalled) from.resume();
    });
    from.on("end", () => to.end());
    from.on("close", () => to.destroy());
    if (isStalled) from.pause();
  }

  const server: Server = createServer((client) => {
    accepted += 1;
    const upstream = connect({ host: "127.0.0.1", port: target });
    keep(client);
    keep(upstream);
    pass(client, upstream, false);
    pass(upstream, client, true);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      each((socket) => socket.destroy());
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    cut: close,
    stall() {
      isStalled = true;
      each((socket) => socket.pause());
    },
    async mend() {
      isStalled = false;
      each((socket) => socket.resume());
      if (!server.listening) await listen(port);
    },
    truncateAfter(bytes) {
      limit = bytes;
    },
    connections: () => accepted,
    async [Symbol.asyncDispose]() {
      if (server.listening) await close();
    },
  };
}
