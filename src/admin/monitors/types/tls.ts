import { nullable } from "../../../ui/forms/form";
import { integerField } from "../../../ui/forms/fields";
import { connectToField } from "./http-parts";
import { hostField, portField, tlsRulesFields } from "./server-fields";
import type { TypeForm } from "./type-form";

export const tlsForm: TypeForm = {
  sentence: "Checks the certificate of a server, and fails before it expires.",
  fields: {
    host: hostField(),
    port: portField(443),
    days: nullable(
      integerField({
        label: "Minimum validity (days)",
        hint: "The check fails if the certificate, or one that the server sends with it, expires in fewer days.",
        initial: 14,
      }),
    ),
    connect_to: connectToField(),
  },
  folds: { Address: ["connect_to"] },
  advanced: tlsRulesFields(),
};
