import { selectField } from "../../../ui/forms/fields";
import { passwordField } from "../secret-texts";
import {
  certificateWarningField,
  hostField,
  plainPasswordField,
  portField,
  tlsRulesFields,
  userField,
} from "./server-fields";
import type { TypeForm } from "./type-form";

export const smtpForm: TypeForm = {
  sentence: "Greets a mail server and signs in, and fails if a step is refused. No mail is sent.",
  fields: {
    host: hostField(),
    port: portField(25, "With STARTTLS often 587, with TLS from the start 465."),
    tls: selectField({
      label: "Encryption",
      hint: "A user name needs STARTTLS or TLS with a verified certificate.",
      initial: "starttls_if_offered",
      options: [
        { value: "starttls_if_offered", label: "STARTTLS if offered, any certificate" },
        { value: "starttls", label: "STARTTLS, verify the certificate" },
        { value: "tls", label: "TLS from the start, verify the certificate" },
        { value: "off", label: "None" },
      ],
    }),
    user: userField(),
    password: passwordField(),
  },
  advanced: {
    ...tlsRulesFields(),
    allow_plain_password: plainPasswordField(),
    certificate_warning_days: certificateWarningField(),
  },
};
