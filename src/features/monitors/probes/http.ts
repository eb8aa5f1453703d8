import { Fault, readBody } from "../../../egress";
import { DAY_MS } from "../../../kernel/time";
import { certificateSentence, checkAssertions } from "../assertions";
import type { Probe, ProbeContext, ProbeResult } from "../probe";
import {
  completed,
  type HttpConfig,
  HttpConfigBody,
  HttpConfigShown,
  validateHttp,
  parseUrl,
} from "./http-config";
import { elapsedMs, failed } from "./fields";
import { follow } from "./http-follow";
import { validateHttpChange, mergeHttp } from "./http-merge";

const LONGEST_TARGET = 200;

/** Asks a web server and holds its answer against assertions. */
export const httpProbe = {
  type: "http",
  label: "HTTP(S)",
  config: HttpConfigBody,
  shown: HttpConfigShown,
  secrets: { headers: "values", body: "text" },
  validate: validateHttp,
  validateChange: validateHttpChange,
  present(config) {
    const { headers, body, ...shown } = completed(config);
    return { ...shown, header_names: Object.keys(headers), has_body: body !== null };
  },
  merge: mergeHttp,
  targetOf({ url }) {
    const parsed = parseUrl(url);
    if (!parsed) return "";
    return `${parsed.host}${parsed.pathname === "/" ? "" : parsed.pathname}`.slice(
      0,
      LONGEST_TARGET,
    );
  },
  run,
} satisfies Probe<"http", HttpConfig>;

async function run(given: HttpConfig, context: ProbeContext): Promise<ProbeResult> {
  const { egress, clock, evaluator, signal } = context;
  const config = completed(given);
  const startedAt = clock.monotonic();
  const followed = await follow(config, egress, signal);
  if (followed instanceof Fault) return failed(followed);
  const { answer, certificateExpiresAt } = followed;
  const latencyMs = elapsedMs(context, startedAt);
  const certificateDays =
    certificateExpiresAt === null
      ? null
      : Math.floor((certificateExpiresAt - clock.now()) / DAY_MS);
  const observed = {
    status: answer.status,
    headers: answer.headers,
    latencyMs,
    certificateDays,
    body: () => readBody(answer),
  };
  const checked = await checkAssertions(config.assertions, observed, evaluator, signal);
  return {
    ...(checked.outcome === "ok"
      ? { outcome: "ok", message: warning(certificateDays, config.certificate_warning_days) }
      : checked),
    latencyMs,
    ...(certificateExpiresAt !== null && { certificateExpiresAt }),
  };
}

/** Returns the message of a successful check whose certificate expires soon. */
function warning(certificateDays: number | null, warningDays: number): string | null {
  if (certificateDays === null || certificateDays >= warningDays) return null;
  return certificateSentence(certificateDays);
}
