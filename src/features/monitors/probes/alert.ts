import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { Nullable, OneOf, Text } from "../../../base/schema";
import { ALERT_FORMATS, type AlertFormat } from "../../../base/status";
import { HOUR_MS, SECOND_MS } from "../../../base/time";
import { matcherProblem } from "../alerts/matchers";
import { parseJsonPath } from "../assertions/json-path";
import type { Probe } from "../monitoring";
import { mergeFields } from "./fields";

const DEFAULT_STALE_SECONDS = (5 * HOUR_MS) / SECOND_MS;
const MATCHERS_MAX = 20;
const LABELS_MAX = 50;
const VALUES_MAX = 20;

function matchersField(description: string) {
  return Type.Optional(
    Type.Array(Text({ minLength: 1, maxLength: 1_000, check: matcherProblem }), {
      maxItems: MATCHERS_MAX,
      uniqueItems: true,
      description,
      examples: [['service="checkout"', 'severity=~"critical|page"']],
    }),
  );
}

/** Schema of a path to one value of an alert. */
function pathField(description: string) {
  return Text({
    minLength: 1,
    maxLength: 300,
    check: (path) =>
      parseJsonPath(path) ? undefined : "must be a path to one value, such as $.alert.id",
    description,
    examples: ["$.id"],
  });
}

/** End of a path that names all entries of a list. */
const EACH = "[*]";

/** Returns the path of a list without its end; undefined for another text. */
export function listPathOf(path: string): ReturnType<typeof parseJsonPath> {
  return path.endsWith(EACH) ? parseJsonPath(path.slice(0, -EACH.length)) : undefined;
}

/** Schema of the texts that give the status of an alert a meaning. */
function statusTexts(description: string) {
  return Type.Array(Text({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: VALUES_MAX,
    uniqueItems: true,
    description,
  });
}

const Mapping = Type.Object(
  {
    alerts: Nullable(
      Text({
        minLength: 1,
        maxLength: 300,
        check: (path) =>
          listPathOf(path) ? undefined : "must be the path of a list, such as $.items[*]",
        description: "Path of the alerts, ending with [*]; null if the body is one alert.",
      }),
    ),
    fingerprint: pathField("Path to the text that tells alerts apart."),
    status: Type.Object(
      {
        path: pathField("Path to the status."),
        firing: statusTexts("Texts by which it begins."),
        resolved: statusTexts("Texts by which it ends."),
      },
      {
        additionalProperties: false,
        description: "Beginning and end of an alert. Numbers, true and false are texts.",
      },
    ),
    started_at: Type.Optional(
      pathField("Path to its start: ISO 8601 (UTC without a zone), or unix seconds or ms."),
    ),
    title: Type.Optional(pathField("Path to its title.")),
    labels: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 100 }), pathField("Path to a label."), {
        maxProperties: LABELS_MAX,
        description: "Paths to labels by their names.",
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      "Places of the parts of an alert in a body of the format json. Paths begin at the alert.",
  },
);
export type Mapping = Static<typeof Mapping>;

const AlertConfig = Type.Object(
  {
    format: OneOf(ALERT_FORMATS, {
      description: "Sender of the alerts, by the form of its bodies.",
    }),
    match: matchersField(
      "Matchers of labels, as in Alertmanager. While an open alert fulfils all of them, the monitor is down. Default: [], every alert.",
    ),
    degraded: matchersField(
      "Matchers of alerts that only degrade the monitor. They count for alerts that do not fulfil `match`. Default: none.",
    ),
    stale_after_seconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 31_536_000,
        description: `Time without a report after which an open alert is dropped. It must be above the time in which its sender repeats it. Default: ${DEFAULT_STALE_SECONDS}.`,
      }),
    ),
    watchdog: Type.Optional(
      Text({
        minLength: 1,
        maxLength: 100,
        description:
          "Push monitor, by id or ref, that the sender calls all the time. While it is down and no alert is open, the monitor has no data.",
        examples: ["alertmanager-watchdog"],
      }),
    ),
    mapping: Type.Optional(Mapping),
  },
  {
    additionalProperties: false,
    examples: [
      {
        format: "alertmanager",
        match: ['service="checkout"', 'severity=~"critical|page"'],
        degraded: ['service="checkout"', 'severity="warning"'],
      },
    ],
  },
);
export type AlertConfig = Static<typeof AlertConfig>;

const FORMAT_LABELS: Readonly<Record<AlertFormat, string>> = {
  alertmanager: "Alertmanager",
  grafana: "Grafana",
  json: "another sender",
};

/** Takes the alerts of other programs. */
export const alertProbe = {
  type: "alert",
  label: "Alert",
  config: AlertConfig,
  shown: AlertConfig,
  isReported: true,
  // An alert has waited at its sender already.
  failureThreshold: 1,
  hasPrivateMessages: true,
  validate: ({ format, mapping }) => [
    ...errorIf(format === "json" && !mapping, "is needed for the format json"),
    ...errorIf(format !== "json" && mapping !== undefined, "is only for the format json"),
  ],
  present: (config) => ({
    format: config.format,
    match: config.match ?? [],
    degraded: config.degraded ?? [],
    stale_after_seconds: staleMsOf(config) / SECOND_MS,
    ...(config.watchdog !== undefined && { watchdog: config.watchdog }),
    ...(config.mapping && { mapping: config.mapping }),
  }),
  merge: mergeFields,
  targetOf: ({ format, match = [] }) =>
    match.length === 0 ? `any alert of ${FORMAT_LABELS[format]}` : match.join(", "),
} satisfies Probe<"alert", AlertConfig>;

function errorIf(isWrong: boolean, detail: string): FieldError[] {
  return isWrong ? [{ pointer: pointer("mapping"), detail }] : [];
}

/** Returns the time in ms without a report after which an open alert is dropped. */
export function staleMsOf({ stale_after_seconds: seconds }: AlertConfig): number {
  return (seconds ?? DEFAULT_STALE_SECONDS) * SECOND_MS;
}
