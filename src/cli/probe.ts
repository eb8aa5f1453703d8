import { readFileSync } from "node:fs";
import { PROXY_OPTION_NAMES } from "../base/config/network";
import { parseInteger, text } from "../base/config/parse";
import { isPrivateUrl } from "../base/private-url";
import { OperatorError } from "../db/errors";
import { TOKEN_MAX } from "../features/locations/wire";
import { VERSION } from "../version";
import { type Command, type Setting, UsageError } from "./command";
import { STATE_DIR } from "./healthcheck";
import { untilSignal } from "./process";
import { SERVER } from "./remote/client";

const TOKEN_FILE: Setting<string> = {
  flag: "token-file",
  env: "ALLCLEAR_TOKEN_FILE",
  parse: text,
  default: undefined,
  placeholder: "FILE",
  help: "File with the token of the location. It is read again after the server has refused the token.",
};

const CONCURRENCY_DEFAULT = 50;

const CONCURRENCY: Setting<number> = {
  flag: "concurrency",
  env: "ALLCLEAR_CONCURRENCY",
  parse: parseInteger(1, 1_000),
  default: String(CONCURRENCY_DEFAULT),
  placeholder: "N",
  help: "Checks at the same time.",
};

export const PROBE_SETTINGS: readonly Setting<unknown>[] = [
  SERVER,
  TOKEN_FILE,
  STATE_DIR,
  CONCURRENCY,
];

export const probeCommand: Command = {
  name: "probe",
  summary: "Check monitors from this machine, as the agent of a location of a server.",
  options: ["logLevel", "caFile", ...PROXY_OPTION_NAMES, "referenceTargets"],
  settings: PROBE_SETTINGS,
  flags: [
    {
      name: "allow-http",
      help: "Reach the server over http:// on another machine, though others can read the secrets of monitors on their way.",
    },
  ],
  async run({ config, setting, isSet, output }) {
    const server = setting(SERVER);
    const tokenFile = setting(TOKEN_FILE);
    const missing = [
      ...(server === undefined ? ["--server or ALLCLEAR_SERVER is missing."] : []),
      ...(tokenFile === undefined ? ["--token-file or ALLCLEAR_TOKEN_FILE is missing."] : []),
    ];
    if (server === undefined || tokenFile === undefined) throw new UsageError(missing);
    if (!isPrivateUrl(new URL(server)) && !isSet("allow-http")) {
      throw new UsageError([
        "--server must begin with https://, since others could read the token and the secrets of monitors; --allow-http permits it.",
      ]);
    }
    const readToken = () => readTokenFile(tokenFile);
    // A wrong path is a mistake of the command line; later the file may be missing for a moment.
    readToken();
    const { runAgent } = await import("../agent/agent");
    const { first, again } = untilSignal();
    const running = runAgent(
      config,
      {
        server,
        readToken,
        stateDir: setting(STATE_DIR),
        concurrency: setting(CONCURRENCY) ?? CONCURRENCY_DEFAULT,
        onConnected: () => output.err(`Allclear ${VERSION} checks for ${server}`),
      },
      first,
    );
    // The process ends with the command: a second signal waits for nothing.
    return Promise.race([running.then(() => 0), again.then(() => 1)]);
  },
};

/** Returns the token in a file. Throws an OperatorError, which does not repeat it. */
function readTokenFile(file: string): string {
  let content: string;
  try {
    content = readFileSync(file, "utf8").trim();
  } catch (error) {
    const { code = "no reason given" } = error as NodeJS.ErrnoException;
    throw new OperatorError(`--token-file must name a file that can be read (${code}).`);
  }
  if (content.length <= TOKEN_MAX && /^[\x21-\x7e]+$/.test(content)) return content;
  throw new OperatorError("--token-file must name a file with the token of a location alone.");
}
