import { optionNames } from "../config";
import type { Command } from "./command";

const TIMEOUT_MS = 3_000;

export const healthcheckCommand: Command = {
  name: "healthcheck",
  summary: "Exit with 0 if the server that listens at --listen is ready, else with 1.",
  options: optionNames("healthcheck"),
  async run({ config, output }) {
    const { host, port } = config.listen;
    const local = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
    const status = await readiness(local, port);
    if (status === 200) return 0;
    output.err(typeof status === "number" ? `The server answered with status ${status}.` : status);
    return 1;
  },
};

/** Returns the status of `/readyz`, or the error. `fetch` would use HTTP_PROXY. */
async function readiness(host: string, port: number): Promise<number | string> {
  // Loaded on demand: it takes a quarter of the time of a start.
  const { get } = await import("node:http");
  return new Promise((resolve) => {
    const request = get({ host, port, path: "/readyz", agent: false, timeout: TIMEOUT_MS });
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("timeout", () => request.destroy(new Error("no response in time")));
    request.on("error", (error) => resolve(`No server at ${host}:${port}: ${error.message}.`));
  });
}
