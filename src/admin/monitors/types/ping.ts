import { textField } from "../../forms/text-fields";
import type { TypeForm } from "./type-form";

export const pingForm: TypeForm = {
  sentence: "Sends an echo request, and fails if no answer arrives.",
  fields: {
    host: textField({ label: "Host", hint: "A name or an IP address.", isRequired: true }),
  },
};
