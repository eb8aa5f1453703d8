import { type Static, Type } from "@sinclair/typebox";
import { plural } from "../../../kernel/text";
import type { Probe } from "../probe";
import { mergeFields } from "./fields";

const DEFAULT_GRACE_SECONDS = 60;
const YEAR_SECONDS = 31_536_000;

const PushConfig = Type.Object(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 86_400,
        description: `Extra time before a missing heartbeat is a failure. Default: ${DEFAULT_GRACE_SECONDS}.`,
      }),
    ),
  },
  { additionalProperties: false, examples: [{ grace_seconds: 300 }] },
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
  validate: () => [],
  present: (config) => ({ grace_seconds: graceSecondsOf(config) }),
  merge: mergeFields,
  targetOf: (config) => `called within ${plural(graceSecondsOf(config), "second")} of its time`,
} satisfies Probe<"push", PushConfig>;

/** Returns the grace period of a push monitor, in seconds. */
export function graceSecondsOf({ grace_seconds = DEFAULT_GRACE_SECONDS }: PushConfig): number {
  return grace_seconds;
}
