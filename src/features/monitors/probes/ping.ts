import { type Static, Type } from "@sinclair/typebox";
import { Fault } from "../../../egress/model";
import { canSendEcho } from "../../../egress/echo";
import type { Probe, ProbeResult } from "../monitoring";
import { elapsedMs, failed, HostText, mergeFields, validateHostField } from "./fields";

const PingConfig = Type.Object(
  { host: HostText },
  { additionalProperties: false, examples: [{ host: "gateway.example.com" }] },
);
type PingConfig = Static<typeof PingConfig>;

/**
 * Checks that a host answers an echo request. If this process lacks the permission for it, the system's `ping` sends
 * it. That receives a checked address and never typed text, which could be an option or resolve to another host.
 */
export const pingProbe = {
  type: "ping",
  label: "Ping",
  config: PingConfig,
  shown: PingConfig,
  validate: validateHostField,
  findMissingProgram: () => (findPing() === null && !canSendEcho() ? "ping" : undefined),
  present: (config) => config,
  merge: mergeFields,
  targetOf: ({ host }) => host,
  async run({ host }, context) {
    const { egress, clock, signal, steps, contact } = context;
    const own = await egress.ping({ host, policy: "monitor", signal, steps, contact });
    if (own instanceof Fault) return failed(own);
    const { outcome, address, latencyMs } = own;
    if (outcome === "answered") return { outcome: "ok", latencyMs, message: null };
    if (outcome === "silent") return notAnswered(SILENT);
    const program = findPing();
    if (program === null) return { ...notAnswered(NO_WAY), isOwnFault: true };
    const startedAt = clock.monotonic();
    const answer = await ping(program, address, signal);
    if (answer.exitCode !== 0) {
      const isOwnFault = NOT_PERMITTED.test(answer.errors);
      const reason = reasonOf(answer, signal);
      const isSilent = reason === SILENT || UNREACHABLE.test(answer.errors);
      if (contact && isSilent) contact.silence = "timeout";
      return { ...notAnswered(reason), ...(isOwnFault && { isOwnFault }) };
    }
    return {
      outcome: "ok",
      latencyMs: roundTripMs(answer.output) ?? elapsedMs(context, startedAt),
      message: null,
    };
  },
} satisfies Probe<"ping", PingConfig>;

/** Finds `ping` at each use, since it may be installed or removed while the server runs. */
function findPing(): string | null {
  return Bun.which("ping", { PATH: process.env["PATH"] ?? "" });
}

interface PingAnswer {
  exitCode: number;
  output: string;
  errors: string;
}

/** Sends one echo request. The program is ended when the signal aborts. */
async function ping(program: string, address: string, signal: AbortSignal): Promise<PingAnswer> {
  if (signal.aborted) return { exitCode: 1, output: "", errors: "" };
  const child = Bun.spawn([program, ...pingArguments(process.platform, address)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    // Its output is parsed below, so it must be in English. No other variables are passed on.
    env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C" },
    signal,
    killSignal: "SIGKILL",
  });
  const [exitCode, output, errors] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode, output, errors };
}

/**
 * Returns the arguments with which a platform's `ping` sends one echo request without looking up
 * names.
 */
export function pingArguments(platform: NodeJS.Platform, address: string): string[] {
  return platform === "win32" ? ["-n", "1", address] : ["-n", "-c", "1", address];
}

/** Returns the time that `ping` measured, in whole ms, which excludes starting the program. */
export function roundTripMs(output: string): number | undefined {
  const time = /time[=<]\s*(\d+(?:\.\d+)?)\s*ms/i.exec(output)?.[1];
  return time === undefined ? undefined : Math.round(Number(time));
}

const NOT_PERMITTED = /not permitted|permission denied/i;
const UNREACHABLE = /unreachable/i;

function reasonOf({ exitCode, errors }: PingAnswer, signal: AbortSignal): string {
  if (signal.aborted || (exitCode === 1 && errors === "")) return SILENT;
  if (NOT_PERMITTED.test(errors)) {
    return "The program ping is not allowed to send echo requests. It needs the capability CAP_NET_RAW.";
  }
  return `The program ping failed (exit status ${exitCode}).`;
}

const SILENT = "The host did not answer.";

const NO_WAY =
  "This server may not send echo requests (net.ipv4.ping_group_range), and the program ping is not installed.";

function notAnswered(message: string): ProbeResult {
  return { outcome: "failed", latencyMs: null, message };
}
