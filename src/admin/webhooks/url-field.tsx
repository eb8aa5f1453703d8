import type { WebhookFormat } from "../../domain/webhook";
import { FORMATS, mailtoOf, recipientOf } from "../../features/webhooks";
import { TextField } from "../../ui";
import type { Field } from "../forms/field";
import { textField } from "../forms/text-fields";

const URL_IS_SECRET =
  "Everyone who knows this URL can post to the channel, so its end is hidden after saving.";

/** Field for the URL; for e-mail, it shows and takes the address alone. */
export function urlField(): Field<string, string, { format: WebhookFormat }> {
  return {
    ...textField({ label: "URL" }),
    toBody(typed, { format }) {
      const text = typed.trim();
      const isBare = format === "email" && text !== "" && !/^mailto:/i.test(text);
      return isBare ? mailtoOf(text) : text;
    },
    fromStored: (url) => (url.startsWith("mailto:") ? recipientOf(url) : url),
    Input: ({ name, value, errors, context: { format } }) => (
      <TextField
        label={format === "email" ? "Address" : "URL"}
        name={name}
        value={value}
        hint={urlHint(format)}
        error={errors[name]}
        autocomplete="off"
        maxlength={2_000}
        required
      />
    ),
  };
}

function urlHint(format: WebhookFormat): string {
  if (format === "email") return "One e-mail address, such as oncall@example.com.";
  return FORMATS[format].openPath
    ? URL_IS_SECRET
    : "The http or https address to which events are sent.";
}
