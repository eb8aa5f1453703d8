import { nullable } from "../../forms/field";
import { integerField } from "../../forms/text-fields";
import type { TypeForm } from "./type-form";

export const pushForm: TypeForm = {
  sentence:
    "Waits for a job to call, and fails if no call arrives in time. The job gets its own address, which is shown once.",
  isPush: true,
  fields: {
    grace_seconds: nullable(
      integerField({
        label: "Grace period (seconds)",
        hint: "Extra time for a call before the check fails.",
        initial: 60,
      }),
    ),
  },
};
