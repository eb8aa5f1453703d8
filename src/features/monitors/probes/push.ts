import { type Static, Type } from "@sinclair/typebox";
import { crons, CronText, type Occurrences } from "../../../base/cron";
import { pointer } from "../../../base/errors";
import { LineText } from "../../../base/texts";
import { OneOf, Text } from "../../../base/schema";
import { plural } from "../../../base/text";
import { isTimeZone } from "../../../base/zones";
import type { Probe } from "../monitoring";
import type { Meaning } from "../signal-text";
import { mergeFields } from "./fields";

const DEFAULT_GRACE_SECONDS = 60;
const DEFAULT_TIME_ZONE = "UTC";
const YEAR_SECONDS = 31_536_000;

const WORDS_MAX = 20;

/** Schema of words of which one gives a call a meaning. */
function wordsField(meaning: string) {
  return Type.Optional(
    // Commas separate words in Healthchecks and on the form.
    Type.Array(
      LineText({
        minLength: 1,
        maxLength: 200,
        pattern: "^[^,]*$",
        mismatch: "must have no comma",
      }),
      {
        maxItems: WORDS_MAX,
        uniqueItems: true,
        description: `Words that make a call ${meaning}.`,
      },
    ),
  );
}

/** Words by which calls to the addresses of Healthchecks tell their meaning in their bodies. */
const BodyWords = Type.Object(
  {
    failure: wordsField("a failure"),
    success: wordsField("a success"),
    start: wordsField("the start of a run"),
    otherwise: Type.Optional(
      OneOf(["ignore", "fail"], {
        description:
          "Meaning of a call whose body has none of the words: ignore keeps it as a message. Default: ignore.",
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      "Words in the bodies of calls to `/ping/…` that decide their meaning, whatever their address says. Failure comes before success, and success before start. Upper and lower case are different.",
  },
);
type BodyWords = Static<typeof BodyWords>;

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
    body_words: Type.Optional(BodyWords),
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
  validate: ({ schedule, time_zone: timeZone, body_words: words }) => [
    ...(timeZone !== undefined && schedule === undefined
      ? [{ pointer: pointer("time_zone"), detail: "needs a schedule" }]
      : []),
    ...(words && !hasWords(words)
      ? [{ pointer: pointer("body_words"), detail: "must have at least one word" }]
      : []),
  ],
  present: ({ body_words: words, ...config }) => ({
    grace_seconds: graceSecondsOf(config),
    ...scheduleOf(config),
    ...(words && { body_words: words }),
  }),
  merge: (before, change: { [Field in keyof PushConfig]: PushConfig[Field] | null }) =>
    mergeFields(before, change.schedule === null ? { time_zone: null, ...change } : change),
  targetOf: (config) => `called within ${plural(graceSecondsOf(config), "second")} of its time`,
} satisfies Probe<"push", PushConfig>;

function hasWords({ failure = [], success = [], start = [] }: BodyWords): boolean {
  return failure.length + success.length + start.length > 0;
}

/**
 * Returns the meaning that the words of a config give a call with this body, as in Healthchecks; that of its address
 * for a config without words.
 */
export function meaningInBody(
  { body_words: words }: PushConfig,
  ofAddress: Meaning,
  body: string,
): Meaning {
  if (!words) return ofAddress;
  const hasOne = (some: readonly string[] = []) => some.some((word) => body.includes(word));
  if (hasOne(words.failure)) return { outcome: "failed" };
  if (hasOne(words.success)) return { outcome: "ok" };
  if (hasOne(words.start)) return { kind: "start" };
  return words.otherwise === "fail" ? { outcome: "failed" } : { kind: "log" };
}

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
