import { hostField } from "./server-fields";
import type { TypeForm } from "./type-form";

export const pingForm: TypeForm = {
  sentence: "Sends an echo request, and fails if no answer arrives.",
  fields: {
    host: hostField(),
  },
};
