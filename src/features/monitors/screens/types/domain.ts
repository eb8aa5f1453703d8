import { integerField, textField } from "../../../../ui/forms/fields";
import { nullable } from "../../../../ui/forms/form";
import type { TypeForm } from "./type-form";

export const domainForm: TypeForm = {
  sentence: "Asks the registry when a domain expires, and fails once it has expired.",
  fields: {
    domain: textField({ label: "Domain", hint: "Such as example.com.", isRequired: true }),
    days: nullable(
      integerField({
        label: "Warning (days)",
        hint: "A check warns if the domain expires in fewer days, without failing. 0 turns the warning off.",
        initial: 30,
      }),
    ),
  },
};
