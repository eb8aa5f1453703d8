import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { writeConfig } from "../../base/config/load";
import type { Ctx } from "../../context";
import { IMPORT_COMMAND } from "../../base/import-sources";
import { environmentWithoutSettings, ownProgram } from "../../base/own-program";
import { parseJson } from "../../base/text";
import type { ImportMessage, ImportRequest, ImportResult, RunImport } from "./request";

/** Maximum size of an answer, in bytes. A report of 5,000 objects has about 2 MB. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Memory by which the runtime collects garbage, and maximum of a process, in bytes. A configuration of 12,000 endpoints
 * needs 340 MB.
 */
const COLLECTED_BYTES = 256 * 1024 * 1024;
const MEMORY_MAX_BYTES = 448 * 1024 * 1024;
/** Time between two looks at the memory of a process, in ms. It can grow by 10 MB in this time. */
const LOOK_MS = 50;

const BROKEN_OFF = "The import broke off. The server's log has the reason.";

function tooLarge(bytes: number): string {
  return `The import was ended, since it needed more than ${bytes / 1024 / 1024} MiB of memory. Import the source in parts, or with the command “allclear import” on the server.`;
}

/** Returns the result of a process that ended without one. */
function brokenOff({ options }: ImportRequest, reason = BROKEN_OFF): ImportResult {
  const left = options.isDryRun
    ? ""
    : " If it is among the earlier imports, all but the history was imported: import again to go on with it.";
  return { failure: { message: `${reason}${left}`, fields: [] } };
}

/**
 * Returns a function that imports in another process of this program, beside the server. The transaction
 * of a file of 768 KiB with 814 checks takes 250 ms, longer than a turn of the event loop may, and files come from other
 * people: a process of its own delays no request, can be killed at any moment, and gives its memory back. The request goes through standard input, since
 * every process can read arguments.
 */
export function importInProcess(ctx: Ctx, memoryMaxBytes = MEMORY_MAX_BYTES): RunImport {
  return async (request, progress, signal) => {
    if (signal.aborted) return brokenOff(request);
    const { clock, config, log } = ctx;
    const child = Bun.spawn([...ownProgram(), IMPORT_COMMAND], {
      env: { ...environmentWithoutSettings(), BUN_JSC_forceRAMSize: String(COLLECTED_BYTES) },
      // Not the working directory of the server, which could contain settings for the runtime.
      cwd: resolve(config.dataDir),
      stdin: Buffer.from(`${writeConfig(config)}\n${JSON.stringify(request)}`),
      stdout: "pipe",
      stderr: "pipe",
    });
    const kill = () => child.kill("SIGKILL");
    signal.addEventListener("abort", kill, { once: true });
    let isTooLarge = false;
    const watch = clock.every(LOOK_MS, () => {
      if (isTooLarge || privateBytesOf(child.pid) <= memoryMaxBytes) return;
      isTooLarge = true;
      kill();
    });
    try {
      const errors = new Response(child.stderr).text();
      const result = await readMessages(child.stdout, progress);
      if (result) return result;
      // It may still be running, after an answer that is too long.
      kill();
      const exitCode = await child.exited;
      if (isTooLarge) return brokenOff(request, tooLarge(memoryMaxBytes));
      if (!signal.aborted) {
        const { signalCode } = child;
        const reason = framesOf(await errors);
        log.error({ exitCode, signalCode, reason }, "an import broke off");
      }
      return brokenOff(request);
    } finally {
      watch.cancel();
      signal.removeEventListener("abort", kill);
    }
  };
}

/** Returns the private memory of a process; 0 where the system does not tell it. */
function privateBytesOf(pid: number): number {
  try {
    const [, kilobytes = 0] =
      /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
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
