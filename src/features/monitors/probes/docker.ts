import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../../base/schema";
import { oneLine, parseJson } from "../../../base/text";
import { LineText } from "../../../base/texts";
import { readBody } from "../../../egress/body";
import { Fault } from "../../../egress/model";
import type { Probe, ProbeContext, ProbeResult } from "../monitoring";
import { elapsedMs, failed, mergeFields, seen } from "./fields";

const DockerConfig = Type.Object(
  {
    host: LineText({
      minLength: 1,
      maxLength: 63,
      description: "Name of a Docker host in ALLCLEAR_DOCKER_HOSTS.",
      examples: ["local"],
    }),
    container: Text({
      minLength: 1,
      maxLength: 255,
      pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]*$",
      mismatch: "must begin with a letter or digit and have only letters, digits, _, . and -",
      description: "Name or id of the container.",
      examples: ["web"],
    }),
  },
  { additionalProperties: false, examples: [{ host: "local", container: "web" }] },
);
type DockerConfig = Static<typeof DockerConfig>;

/** Checks that a container is running and healthy. */
export const dockerProbe = {
  type: "docker",
  label: "Docker container",
  config: DockerConfig,
  shown: DockerConfig,
  // Messages repeat the last line of the health check's log.
  hasPrivateMessages: true,
  validate: () => [],
  present: (config) => config,
  merge: mergeFields,
  targetOf: ({ host, container }) => `${container} on ${host}`,
  run: checkDocker,
} satisfies Probe<"docker", DockerConfig>;

/** Part of a container's state as Docker describes it. */
interface State {
  Status?: unknown;
  ExitCode?: unknown;
  Health?: { Status?: unknown; Log?: unknown } | null;
}

/** Messages of statuses other than `running`. */
const STATUS_MESSAGES: ReadonlyMap<string, string> = new Map([
  ["created", "The container was not started."],
  ["restarting", "The container is restarting."],
  ["paused", "The container is paused."],
  ["removing", "The container is being removed."],
  ["dead", "The container is dead."],
]);

/** Asks Docker for the state of a container. */
async function checkDocker(
  { host, container }: DockerConfig,
  context: ProbeContext,
): Promise<ProbeResult> {
  const startedAt = context.clock.monotonic();
  const { signal, steps } = context;
  const answer = await context.egress.askDocker({ host, container, signal, steps });
  if (answer instanceof Fault) return failed(answer);
  const body = await readBody(answer);
  if (body instanceof Fault) return failed(body);
  const latencyMs = elapsedMs(context, startedAt);
  const { certificate } = answer;
  return {
    latencyMs,
    ...(certificate && { certificate: seen(certificate) }),
    ...(body.isTruncated
      ? { ...failure("Docker's answer is longer than a check reads."), isUndecided: true }
      : outcomeOf(answer.status, new TextDecoder().decode(body.bytes))),
  };
}

function outcomeOf(
  status: number,
  text: string,
): Pick<ProbeResult, "outcome" | "message" | "publicMessage"> {
  if (status === 404) return failure("There is no such container.");
  if (status !== 200) return failure(`Docker answered with status ${status}.`);
  const { State: state } = (parseJson(text) ?? {}) as { State?: State | null };
  if (typeof state?.Status !== "string") return failure("Docker's answer could not be read.");
  const { Status, ExitCode, Health } = state;
  if (Status === "exited") return failure(`The container has exited${exitStatus(ExitCode)}.`);
  if (Status !== "running") {
    return failure(STATUS_MESSAGES.get(Status) ?? "The container is not running.");
  }
  if (Health?.Status === "starting") {
    return failure("The container is starting: its health check has not succeeded yet.");
  }
  if (Health?.Status === "unhealthy") {
    const line = lastLine(Health.Log);
    const message = "The container is unhealthy";
    return failure(line === "" ? `${message}.` : `${message}: ${line}`, `${message}.`);
  }
  return { outcome: "ok", message: null };
}

function failure(message: string, publicMessage = message) {
  return { outcome: "failed", message: oneLine(message).trimEnd(), publicMessage } as const;
}

function exitStatus(code: unknown): string {
  return typeof code === "number" ? ` (status ${code})` : "";
}

/** Returns the last line of the newest output in a health log. */
function lastLine(log: unknown): string {
  const newest = Array.isArray(log) ? (log.at(-1) as { Output?: unknown } | undefined) : undefined;
  const output = typeof newest?.Output === "string" ? newest.Output : "";
  return output.trim().split("\n").at(-1)?.trim() ?? "";
}
