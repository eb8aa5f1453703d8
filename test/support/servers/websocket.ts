import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { certificateText } from "../raw-server";
import type { CertificateName } from "./server-process";

interface TestWebSocketServer extends AsyncDisposable {
  port: number;
  /** Requests that were upgraded. */
  requests: IncomingMessage[];
  /** Codes of the closing frames of clients. */
  closed: Promise<number>;
}

interface Options {
  certificate?: CertificateName;
  /** Subprotocol that the server chooses. */
  protocol?: string;
}

/** Starts a WebSocket server that handles each connection by `onOpen`. */
export async function startWebSocketServer(
  onOpen: (socket: WebSocket) => void,
  { certificate, protocol }: Options = {},
): Promise<TestWebSocketServer> {
  const pem = certificate && (await certificateText(certificate));
  const http = pem ? createTlsServer({ key: pem, cert: pem }) : createServer();
  const requests: IncomingMessage[] = [];
  const closed = Promise.withResolvers<number>();
  const server = new WebSocketServer({
    server: http,
    handleProtocols: () => protocol ?? false,
  });
  server.on("connection", (socket, request) => {
    requests.push(request);
    socket.on("error", () => {});
    socket.on("close", (code) => closed.resolve(code));
    onOpen(socket);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    port: (http.address() as AddressInfo).port,
    requests,
    closed: closed.promise,
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate();
      server.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
