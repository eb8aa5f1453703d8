import { connect } from "node:net";
import { type RawServer, startRawServer } from "./raw-server";

/** A proxy before a server on loopback that cuts connections once the server has answered. */
interface CuttingProxy extends RawServer {
  url: string;
  /** Request lines of the answers that were cut. */
  cut: string[];
}

/** Starts a proxy that passes on every request, and cuts the connection instead of the first `count` answers to POSTs. */
export async function startCuttingProxy(port: number, count: number): Promise<CuttingProxy> {
  const cut: string[] = [];
  const proxy = await startRawServer((socket) => {
    const upstream = connect({ host: "127.0.0.1", port });
    let line = "";
    socket.on("data", (data) => {
      line = /^([A-Z]+ \S+) HTTP\/1\.1\r\n/.exec(data.toString("latin1"))?.[1] ?? line;
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (line.startsWith("POST ") && cut.length < count) {
        cut.push(line);
        socket.destroy();
        upstream.destroy();
      } else socket.write(data);
    });
    socket.on("close", () => upstream.destroy());
    upstream.on("error", () => socket.destroy());
    upstream.on("close", () => socket.end());
  });
  return { ...proxy, cut, url: `http://127.0.0.1:${proxy.port}` };
}
