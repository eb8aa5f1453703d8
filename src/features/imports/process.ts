import { resolve } from "node:path";
import { writeConfig } from "../../config";
import type { AppContext } from "../../context";
import { IMPORT_COMMAND } from "../../domain/import-sources";
import { environmentWithoutSettings, ownProgram } from "../../kernel/own-program";
import { parseJson } from "../../kernel/text";
import type { ImportMessage, ImportRequest, ImportResult, RunImport } from "./request";

/** Maximum size of an answer, in bytes. A report of 5,000 objects has about 2 MB. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;

/** Returns the result of a process that ended without one. */
function brokenOff({ options }: ImportRequest): ImportResult {
  const left = options.isDryRun
    ? ""
    : " If it is among the earlier imports, all but the history was imported: import again to go on with it.";
  const message = `The import broke off. The server's log has the reason.${left}`;
  return { failure: { message, fields: [] } };
}

/**
 * Returns a function that imports in another process of this program, beside the server. The transaction
 * of a file of 768 KiB with 814 checks takes 250 ms, longer than a turn of the event loop may, and files come from other
 * people: a process of its own delays no request, can be killed at any moment, and gives its memory back. The request goes through standard input, since
 * every process can read arguments.
 */
export function importInProcess(ctx: Pick<AppContext, "config" | "log">): RunImport {
  return async (request, progress, signal) => {
    if (signal.aborted) return brokenOff(request);
    const { config, log } = ctx;
    const child = Bun.spawn([...ownProgram(), IMPORT_COMMAND], {
      env: environmentWithoutSettings(),
      // Not the working directory of the server, which could contain settings for the runtime.
      cwd: resolve(config.dataDir),
      stdin: Buffer.from(`${writeConfig(config)}\n${JSON.stringify(request)}`),
      stdout: "pipe",
      stderr: "pipe",
    });
    const kill = () => child.kill("SIGKILL");
    signal.addEventListener("abort", kill, { once: true });
    try {
      const errors = new Response(child.stderr).text();
      const result = await readMessages(child.stdout, progress);
      if (result) return result;
      // It may still be running, after an answer that is too long.
      kill();
      const exitCode = await child.exited;
      if (!signal.aborted)
        log.error({ exitCode, reason: framesOf(await errors) }, "an import broke off");
      return brokenOff(request);
    } finally {
      signal.removeEventListener("abort", kill);
    }
  };
}

/** Reads messages, one a line, until the one that ends the import; undefined if there is none. */
async function readMessages(
  stream: AsyncIterable<Uint8Array>,
  progress: (text: string) => void,
): Promise<ImportResult | undefined> {
  let result: ImportResult | undefined;
  let rest: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      const line = Buffer.concat([...rest, chunk.subarray(start, end)]).toString();
      const message = parseJson(line) as ImportMessage | undefined;
      if (message && "progress" in message) progress(message.progress);
      else if (message) result = message;
      [rest, length, start] = [[], 0, end + 1];
    }
    rest.push(chunk.subarray(start));
    length += chunk.byteLength - start;
    if (length > ANSWER_MAX_BYTES) return undefined;
  }
  return result;
}

/** Returns the lines of a stack without its message, which may have parts of the source. */
function framesOf(errors: string): string {
  return errors
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 20)
    .join("\n");
}
