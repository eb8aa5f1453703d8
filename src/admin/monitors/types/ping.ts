import type { TypeForm } from "./type-form";

export const pingForm: TypeForm = {
  sentence: "Sends an echo request, and fails where no answer comes.",
  fields: [
    { name: "host", label: "Host", hint: "A name or an IP address.", kind: "text", initial: "" },
  ],
};
