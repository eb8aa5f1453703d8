import { statSync } from "node:fs";
import { join } from "node:path";
import { CONTACT_FILE } from "../agent/contact-file";
import { optionNames } from "../base/config/options";
import { text } from "../base/config/parse";
import { SECOND_MS } from "../base/time";
import { type Command, type Output, type Setting, UsageError } from "./command";

const TIMEOUT_MS = 3_000;
/** Length in bytes beyond which an answer is another program's. */
const BODY_MAX_BYTES = 64 * 1024;

/** Directory in which the agent notes its last contact, which `healthcheck --probe` reads. */
export const STATE_DIR: Setting<string> = {
  flag: "state-dir",
  env: "ALLCLEAR_STATE_DIR",
  parse: text,
  default: undefined,
  placeholder: "DIR",
  help: "Directory in which the agent notes the time of its last contact, and nothing else, for healthcheck --probe.",
};

export const healthcheckCommand: Command = {
  name: "healthcheck",
  summary:
    "Exit with 0 if Allclear listens at --listen and is ready, or with --probe if the agent has contact, else with 1.",
  options: optionNames("healthcheck"),
  settings: [STATE_DIR],
  flags: [
    {
      name: "probe",
      help: "Examine the agent of a location, by its --state-dir: the server must have answered it within 90 seconds.",
    },
  ],
  async run({ config, output, isSet, setting }) {
    if (isSet("probe")) return examineAgent(setting(STATE_DIR), output);
    const { host, port } = config.listen;
    const local = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
    const problem = await findProblem(local, port);
    if (problem === undefined) return 0;
    output.err(problem);
    return 1;
  },
};

/** Time since the last contact after which an agent has none. It notes a contact every 15 seconds. */
const CONTACT_MAX_MS = 90 * SECOND_MS;

/** Examines an agent by the file that it writes. */
function examineAgent(stateDir: string | undefined, output: Output): 0 | 1 {
  if (stateDir === undefined) {
    throw new UsageError(["--state-dir or ALLCLEAR_STATE_DIR is missing."]);
  }
  const file = statSync(join(stateDir, CONTACT_FILE), { throwIfNoEntry: false });
  const ageMs = file ? Date.now() - file.mtimeMs : undefined;
  if (ageMs !== undefined && ageMs <= CONTACT_MAX_MS) return 0;
  output.err(
    ageMs === undefined
      ? "The agent has had no contact with its server."
      : `The agent has had no contact with its server for ${Math.round(ageMs / SECOND_MS)} seconds.`,
  );
  return 1;
}

/** Returns the reason for which the server is not ready. `fetch` would use HTTP_PROXY. */
async function findProblem(host: string, port: number): Promise<string | undefined> {
  // Loaded on demand: it takes a quarter of the time of a start.
  const { get } = await import("node:http");
  return new Promise((resolve) => {
    const request = get({ host, port, path: "/readyz", agent: false, timeout: TIMEOUT_MS });
    // The timeout of the request starts again with each byte.
    const timer = setTimeout(() => request.destroy(new Error("no response in time")), TIMEOUT_MS);
    request.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        if (body.length <= BODY_MAX_BYTES) body += chunk;
        else response.destroy();
      });
      response.on("error", (error) => resolve(`The answer broke off: ${error.message}.`));
      response.on("close", () => {
        if (!isOfAllclear(body)) resolve(`Another program answers at ${host}:${port}.`);
        else if (response.statusCode === 200) resolve(undefined);
        else resolve(`The server answered with status ${response.statusCode}.`);
      });
    });
    request.on("timeout", () => request.destroy(new Error("no response in time")));
    request.on("error", (error: NodeJS.ErrnoException) => {
      // Errors of the parser.
      if (error.code?.startsWith("HPE_")) resolve(`Another program answers at ${host}:${port}.`);
      else resolve(`No server at ${host}:${port}: ${error.message}.`);
    });
    request.on("close", () => clearTimeout(timer));
  });
}

/** True for the body of a readiness check, or of an error of Allclear. */
function isOfAllclear(body: string): boolean {
  try {
    const { status, writable, type } = JSON.parse(body) as Record<string, unknown>;
    if (typeof writable === "boolean") return status === "ok";
    return typeof type === "string" && type.startsWith("/docs/errors#");
  } catch {
    return false;
  }
}
