import { nullable } from "../../forms/field";
import { integerField } from "../../forms/text-fields";
import { hostField, portField } from "./server-fields";
import type { TypeForm } from "./type-form";

export const tlsForm: TypeForm = {
  sentence: "Checks the certificate of a server, and fails before it expires.",
  fields: {
    host: hostField(),
    port: portField(443),
    days: nullable(
      integerField({
        label: "Minimum validity (days)",
        hint: "The check fails if the certificate expires in fewer days.",
        initial: 14,
      }),
    ),
  },
};
