import { requireTool } from "./workspace";

/** The core that load comes from; servers that are compared stay off it. */
export const LOAD_CORE = 1;
export const SERVER_CORE = 0;

interface WrkOptions {
  connections: number;
  seconds: number;
  headers?: Record<string, string>;
  /** A Lua file, and what it is given. */
  script?: string;
  args?: readonly string[];
  /** True if answers other than 2xx and 3xx are part of the measurement. */
  allowsRejections?: boolean;
}

interface WrkResult {
  requests: number;
  perSecond: number;
}

/**
 * Loads a server from one core for some seconds. Throws when wrk is missing, when a socket failed, and
 * when an answer was refused, for then something else was measured.
 */
export async function runWrk(url: string, options: WrkOptions): Promise<WrkResult> {
  requireTool("wrk", "wrk");
  requireTool("taskset", "util-linux");
  const { connections, seconds, headers = {}, script, args = [] } = options;
  const words = `taskset -c ${LOAD_CORE} wrk -t1 -c${connections} -d${seconds}s`.split(" ");
  for (const [name, value] of Object.entries(headers)) words.push("-H", `${name}: ${value}`);
  if (script !== undefined) words.push("-s", script);
  words.push(url);
  if (args.length > 0) words.push("--", ...args);
  const child = Bun.spawn(words, { stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const requests = Number(/(\d+) requests in/.exec(output)?.[1]);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
  if ((await child.exited) !== 0 || !(requests > 0) || !(perSecond > 0)) {
    throw new Error(`wrk could not measure ${url}:\n${output}${errors}`);
  }
  const failed = /Socket errors:.*/.exec(output)?.[0];
  if (failed !== undefined) throw new Error(`connections to ${url} failed: ${failed}`);
  const refused = /Non-2xx or 3xx responses: \d+/.exec(output)?.[0];
  if (refused !== undefined && !options.allowsRejections) {
    throw new Error(`${url} did not answer all requests: ${refused}`);
  }
  return { requests, perSecond };
}
