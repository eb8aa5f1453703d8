import { nullable } from "../../../ui/forms/form";
import { textField } from "../../../ui/forms/fields";
import { assertionsField } from "../assertion-field";
import { passwordField } from "../secret-texts";
import {
  certificateWarningField,
  hostField,
  plainPasswordField,
  portField,
  tlsField,
  tlsRulesFields,
  userField,
} from "./server-fields";
import type { TypeForm } from "./type-form";

export const mqttForm: TypeForm = {
  sentence:
    "Connects to an MQTT broker, and fails if the connection is refused or no expected message arrives.",
  fields: {
    host: hostField(),
    port: portField(1883, "With TLS usually 8883."),
    tls: tlsField(),
    user: userField(),
    password: passwordField(),
    topic: nullable(
      textField({
        label: "Topic",
        hint: "Optional. A message on it must arrive within the timeout; a retained one arrives at once. + and # are wildcards.",
      }),
    ),
    assertions: assertionsField({
      sources: ["body", "json"],
      hint: "A message must meet all of them; others are ignored. JSON values need a path such as $.checks[0].status. Separate the values of “is one of” by commas.",
    }),
  },
  advanced: {
    ...tlsRulesFields(),
    allow_plain_password: plainPasswordField(),
    certificate_warning_days: certificateWarningField(),
  },
};
