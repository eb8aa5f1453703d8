import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { certificateText } from "./raw-server";

const GOOD = await certificateText("good");

interface ProxyOptions {
  isTls?: boolean;
  /** Status of an answer that refuses, by the address and port to connect to. */
  refuse?: (authority: string, credentials: string | undefined) => number | undefined;
  /** Resolves the names of targets; addresses stay. */
  addressOf?: (host: string) => string;
}

/** Starts a real CONNECT proxy on loopback, which keeps the heads of the requests it gets. */
export async function startProxy({
  isTls = false,
  refuse = () => undefined,
  addressOf = (host) => host,
}: ProxyOptions = {}) {
  const requests: { authority: string; host: string | undefined; credentials?: string }[] = [];
  const sockets = new Set<Socket>();
  const server = isTls ? createTlsServer({ key: GOOD, cert: GOOD }) : createServer();
  server.on("connect", ({ url = "", headers }: IncomingMessage, client: Socket) => {
    const credentials = headers["proxy-authorization"];
    requests.push({ authority: url, host: headers.host, ...(credentials && { credentials }) });
    sockets.add(client);
    client.on("error", () => {});
    const status = refuse(url, credentials);
    if (status !== undefined) return client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const { hostname, port } = new URL(`http://${url}`);
    const target = connect(Number(port), addressOf(hostname.replace(/^\[|\]$/g, "")), () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      target.pipe(client);
      client.pipe(target);
    });
    sockets.add(target);
    target.on("error", () => client.destroy());
    client.on("close", () => target.destroy());
    target.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    requests,
    url: `${isTls ? "https" : "http"}://other.test:${port}`,
    /** Resolves when all connections of clients and to targets are closed. */
    allClosed: () =>
      Promise.all(Array.from(sockets, (socket) => socket.closed || once(socket, "close"))),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
