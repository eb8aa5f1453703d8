import { CRON_MAX } from "../../../base/cron";
import { integerField, selectField, textField } from "../../../ui/forms/fields";
import { type Field, nullable, optional } from "../../../ui/forms/form";
import { partsField } from "../parts-field";
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
    body_words: partsField({
      field: "body_words",
      label: "Words in bodies",
      noun: "the words",
      parts: {
        failure: wordsField("Words of a failure", "Optional. Separated by commas, such as ERROR."),
        success: wordsField("Words of a success", "Optional. Separated by commas."),
        start: wordsField("Words of a start", "Optional. Separated by commas."),
        otherwise: optional(
          selectField({
            label: "Call without any of the words",
            initial: "ignore",
            options: [
              { value: "ignore", label: "Is kept as a message" },
              { value: "fail", label: "Is a failure" },
            ],
          }),
        ),
      },
    }),
  },
  folds: { "Words in bodies of /ping/ calls": ["body_words"] },
};

/** Field for words, separated by commas. */
function wordsField(label: string, hint: string): Field<string, readonly string[]> {
  return optional({
    ...textField({ label, hint }),
    toBody: (typed) =>
      typed
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== ""),
    fromStored: (words: readonly string[]) => words.join(", "),
  });
}
