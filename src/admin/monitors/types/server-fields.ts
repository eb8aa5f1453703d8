import { selectField } from "../../forms/choice-fields";
import { nullable } from "../../forms/field";
import { integerField, textField } from "../../forms/text-fields";

/* Fields that the forms of several types share. */

export function hostField() {
  return textField({ label: "Host", hint: "A name or an IP address.", isRequired: true });
}

/** Field for a port with a default, or a required one. */
export function portField(initial?: number, hint = "") {
  return initial === undefined
    ? integerField({ label: "Port", isRequired: true })
    : nullable(integerField({ label: "Port", initial, hint }));
}

export function tlsField() {
  return selectField({
    label: "Encryption",
    hint: "With “any certificate”, the server is not verified.",
    initial: "off",
    options: [
      { value: "off", label: "None" },
      { value: "verify", label: "TLS, verify the certificate" },
      { value: "require", label: "TLS, any certificate" },
    ],
  });
}

export function userField() {
  return nullable(textField({ label: "User name", hint: "Optional." }));
}

export function certificateWarningField() {
  return nullable(
    integerField({
      label: "Certificate warning (days)",
      hint: "A check warns if the certificate expires in fewer days, without failing. 0 turns the warning off.",
      initial: 14,
    }),
  );
}
