import { checkboxField, textField } from "../../../ui/forms/fields";
import { type Field, nullable } from "../../../ui/forms/form";
import { secretTextField } from "../secret-texts";
import { secretValuesField } from "../secret-values";
import { certificateWarningField, tlsRulesFields } from "./server-fields";
import type { TypeForm } from "./type-form";

export const websocketForm: TypeForm = {
  sentence:
    "Opens a WebSocket, and fails if it does not open or the first message is not as expected.",
  fields: {
    url: textField({ label: "URL", hint: "With ws:// or wss://.", isRequired: true }),
    send: secretTextField({
      field: "send",
      noun: "message",
      label: "Message to send",
      hint: "Optional.",
      rows: 3,
      maxlength: 64_000,
    }),
    expected: nullable(
      textField({
        label: "Expected text",
        hint: "Optional. The first message must contain it.",
        maxlength: 1_000,
      }),
    ),
    headers: secretValuesField({
      noun: "headers",
      label: "Headers",
      rowLabel: "Header",
      hint: "Sent with the upgrade, such as Authorization.",
    }),
  },
  folds: { Headers: ["headers"] },
  advanced: {
    subprotocols: listField({
      label: "Subprotocols",
      hint: "Optional. Separated by commas. The server must choose one of them.",
    }),
    close_codes: numbersField(),
    verify_tls: checkboxField({
      label: "Verify the certificate",
      hint: "If unchecked, any certificate is accepted, even an expired one.",
      initial: true,
    }),
    ...tlsRulesFields(),
    certificate_warning_days: certificateWarningField(),
  },
};

/** Field for texts, separated by commas. */
function listField(options: { label: string; hint: string }): Field<string, string[] | null> {
  return nullable({
    ...textField(options),
    toBody: partsOf,
    fromStored: (parts) => parts.join(", "),
  });
}

/** Field for the codes of a closing frame. Invalid text becomes NaN, which the service rejects. */
function numbersField(): Field<string, number[] | null> {
  return nullable({
    ...textField({
      label: "Close codes",
      hint: "Optional. Separated by commas, such as 1000, 1001. The server's closing frame must have one of them.",
    }),
    toBody: (typed) => partsOf(typed).map(Number),
    fromStored: (codes) => codes.join(", "),
  });
}

function partsOf(typed: string): string[] {
  return typed
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
