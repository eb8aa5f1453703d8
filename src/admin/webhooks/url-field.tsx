import type { WebhookFormat } from "../../base/webhook";
import { FORMATS } from "../../features/webhooks/formats";
import { mailtoOf, recipientOf } from "../../features/webhooks/recipient";
import { TextField } from "../../ui/form";
import type { Field } from "../../ui/forms/form";

/** Name and label of the input for the format `email`. */
const ADDRESS = "address";
const ADDRESS_LABEL = "Address";

interface TypedUrl {
  url: string;
  address: string;
  isAddress: boolean;
}

/** Field for the URL; for e-mail it has another input, with the address alone. */
export function urlField(
  sentFormat: (sent: { text(name: string): string }) => string,
): Field<TypedUrl, string, { format: WebhookFormat }> {
  return {
    label: "URL",
    inputs: { [ADDRESS]: ADDRESS_LABEL },
    initial: { url: "", address: "", isAddress: false },
    showError: ({ detail }, { isAddress }) => (isAddress ? { input: ADDRESS, detail } : { detail }),
    read: (sent, name) => ({
      url: sent.text(name),
      address: sent.text(ADDRESS),
      isAddress: sentFormat(sent) === "email",
    }),
    toBody({ url, address }, { format }) {
      if (format !== "email") return url.trim();
      const text = address.trim();
      return text === "" || /^mailto:/i.test(text) ? text : mailtoOf(text);
    },
    fromStored: (url) =>
      url.startsWith("mailto:")
        ? { url: "", address: recipientOf(url), isAddress: true }
        : { url, address: "", isAddress: false },
    Input: ({ name, value, errors, context: { format } }) =>
      format === "email" ? (
        <TextField
          label={ADDRESS_LABEL}
          name={ADDRESS}
          value={value.address}
          hint="One e-mail address, such as oncall@example.com."
          error={errors[ADDRESS]}
          autocomplete="off"
          maxlength={300}
          required
        />
      ) : (
        <TextField
          label="URL"
          name={name}
          value={value.url}
          hint={
            FORMATS[format].openPath
              ? URL_IS_SECRET
              : "The http or https address to which events are sent."
          }
          error={errors[name]}
          autocomplete="off"
          maxlength={2_000}
          required
        />
      ),
  };
}

const URL_IS_SECRET =
  "Everyone who knows this URL can post to the channel, so its end is hidden after saving.";
