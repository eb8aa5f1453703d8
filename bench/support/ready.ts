import { connect } from "node:net";

const TIMEOUT_MS = 5_000;

/** Waits until a server on a port of this machine answers 200, asking again as soon as it was refused. */
export async function untilAnswered(
  child: Bun.Subprocess,
  port: number,
  path: string,
): Promise<void> {
  const since = performance.now();
  while (!(await isAnswered(port, path))) {
    if (performance.now() - since > TIMEOUT_MS || child.exitCode !== null) {
      throw new Error("the server was never ready");
    }
  }
}

/** Returns true if a request is answered with 200. */
export function isAnswered(port: number, path: string): Promise<boolean> {
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(answer.startsWith("HTTP/1.1 200 ")));
  });
}
