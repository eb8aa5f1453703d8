import { type Static, Type } from "@sinclair/typebox";
import { CronText, crons, type Occurrences } from "../../../domain/cron";
import { pointer } from "../../../errors";
import { Text } from "../../../kernel/schema";
import { plural } from "../../../kernel/text";
import { isTimeZone } from "../../pages";
import type { Probe } from "../probe";
import { mergeFields } from "./fields";

const DEFAULT_GRACE_SECONDS = 60;
const DEFAULT_TIME_ZONE = "UTC";
const YEAR_SECONDS = 31_536_000;

const PushConfig = Type.Object(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: YEAR_SECONDS,
        description: `Extra time before a missing heartbeat, or the missing end of a run, is a failure. Default: ${DEFAULT_GRACE_SECONDS}.`,
      }),
    ),
    schedule: Type.Optional({
      ...CronText,
      description: `Times at which calls are due, instead of an interval. ${CronText.description ?? ""}`,
      examples: ["0 3 * * *"],
    }),
    time_zone: Type.Optional(
      Text({
        minLength: 1,
        maxLength: 64,
        check: (name) =>
          isTimeZone(name) ? undefined : "must be a time zone, such as Europe/Berlin",
        description: `Time zone of the schedule. Default: ${DEFAULT_TIME_ZONE}.`,
        examples: ["Europe/Berlin"],
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ grace_seconds: 300, schedule: "0 3 * * *", time_zone: "Europe/Berlin" }],
  },
);
type PushConfig = Static<typeof PushConfig>;

/** Checks that a job calls in time with its token. */
export const pushProbe = {
  type: "push",
  label: "Heartbeat",
  config: PushConfig,
  shown: PushConfig,
  maxIntervalSeconds: YEAR_SECONDS,
  canOmitInterval: true,
  // A failed or missing call is already certain, since the grace period has passed.
  failureThreshold: 1,
  hasPrivateMessages: true,
  validate: ({ schedule, time_zone: timeZone }) =>
    timeZone !== undefined && schedule === undefined
      ? [{ pointer: pointer("time_zone"), detail: "needs a schedule" }]
      : [],
  present: (config) => ({ grace_seconds: graceSecondsOf(config), ...scheduleOf(config) }),
  merge: (before, change: { [Field in keyof PushConfig]: PushConfig[Field] | null }) =>
    mergeFields(before, change.schedule === null ? { time_zone: null, ...change } : change),
  targetOf: (config) => `called within ${plural(graceSecondsOf(config), "second")} of its time`,
} satisfies Probe<"push", PushConfig>;

/** Returns the grace period of a push monitor, in seconds. */
export function graceSecondsOf({ grace_seconds = DEFAULT_GRACE_SECONDS }: PushConfig): number {
  return grace_seconds;
}

/** Returns the schedule of a config with its time zone; undefined without one. Other types have none. */
export function scheduleOf({
  schedule,
  time_zone = DEFAULT_TIME_ZONE,
}: PushConfig): { schedule: string; time_zone: string } | undefined {
  return schedule === undefined ? undefined : { schedule, time_zone };
}

/**
 * Returns the times at which calls are due; undefined without a schedule, and for a time zone that this build
 * does not know.
 */
export function occurrencesOf(config: PushConfig): Occurrences | undefined {
  const declared = scheduleOf(config);
  if (!declared || !isTimeZone(declared.time_zone)) return undefined;
  return crons().read(declared.schedule, declared.time_zone);
}
