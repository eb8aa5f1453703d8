import type { TypeForm } from "./type-form";

export const tlsForm: TypeForm = {
  sentence: "Looks at the certificate of a server, and fails before it ends.",
  fields: [
    { name: "host", label: "Host", hint: "A name or an IP address.", kind: "text", initial: "" },
    { name: "port", label: "Port", kind: "whole", initial: "443", isOptional: true },
    {
      name: "days",
      label: "Days left",
      hint: "It fails when the certificate ends in fewer days than these.",
      kind: "whole",
      initial: "14",
      isOptional: true,
    },
  ],
};
