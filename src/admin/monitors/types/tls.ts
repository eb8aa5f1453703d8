import type { TypeForm } from "./type-form";

export const tlsForm: TypeForm = {
  sentence: "Checks the certificate of a server, and fails before it expires.",
  fields: [
    { name: "host", label: "Host", hint: "A name or an IP address.", kind: "text", initial: "" },
    { name: "port", label: "Port", kind: "whole", initial: "443", isOptional: true },
    {
      name: "days",
      label: "Days left",
      hint: "The check fails if the certificate expires in fewer days.",
      kind: "whole",
      initial: "14",
      isOptional: true,
    },
  ],
};
