import { nullable } from "../../forms/field";
import { integerField, textField } from "../../forms/text-fields";
import type { TypeForm } from "./type-form";

export const tlsForm: TypeForm = {
  sentence: "Checks the certificate of a server, and fails before it expires.",
  fields: {
    host: textField({ label: "Host", hint: "A name or an IP address.", isRequired: true }),
    port: nullable(integerField({ label: "Port", initial: 443 })),
    days: nullable(
      integerField({
        label: "Minimum validity (days)",
        hint: "The check fails if the certificate expires in fewer days.",
        initial: 14,
      }),
    ),
  },
};
