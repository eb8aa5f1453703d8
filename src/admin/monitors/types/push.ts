import type { TypeForm } from "./type-form";

export const pushForm: TypeForm = {
  sentence:
    "Waits for a job to call, and fails if no call arrives in time. The job gets its own address, which is shown once.",
  isPush: true,
  fields: [
    {
      name: "grace_seconds",
      label: "Grace (seconds)",
      hint: "How much later than expected the job may call.",
      kind: "whole",
      initial: "60",
      isOptional: true,
    },
  ],
};
