import { CRON_MAX } from "../../../domain/cron";
import { nullable } from "../../forms/field";
import { integerField, textField } from "../../forms/text-fields";
import type { TypeForm } from "./type-form";

export const pushForm: TypeForm = {
  sentence:
    "Waits for a job to call, and fails if no call arrives in time. The job gets its own address, which is shown once.",
  isPush: true,
  fields: {
    schedule: nullable(
      textField({
        label: "Schedule",
        hint: "Cron expression for “By a schedule”, such as 0 3 * * * for 03:00 each day: minute, hour, day of month, month and day of week.",
        maxlength: CRON_MAX,
      }),
    ),
    time_zone: nullable(
      textField({
        label: "Time zone of the schedule",
        hint: "Such as Europe/Berlin. A time that the clock skips or repeats is due once.",
        initial: "UTC",
        suggestions: ["UTC", ...Intl.supportedValuesOf("timeZone")],
      }),
    ),
    grace_seconds: nullable(
      integerField({
        label: "Grace period (seconds)",
        hint: "Extra time for a call before the check fails, and longest time from a start to its end.",
        initial: 60,
      }),
    ),
  },
};
