/* Fields of an HTTP monitor for objects with secrets. */
import { toIso } from "../../../../base/time";
import { TextArea } from "../../../../ui/form";
import { integerField, selectField, textAreaField, textField } from "../../../../ui/forms/fields";
import { type Field, optional } from "../../../../ui/forms/form";
import { longDay } from "../../../../ui/times";
import {
  type CertificateFacts,
  certificatesIn,
  PRIVATE_KEY,
} from "../../probes/client-certificate";
import { partsField } from "../parts-field";
import { secretTextField } from "../secrets";

/** Screen data of the fields for certificates. */
export interface CertificatesContext {
  /** Unix ms. */
  now: number;
}

export function oauth2Field() {
  return partsField({
    field: "oauth2",
    label: "OAuth 2.0",
    noun: "OAuth 2.0",
    parts: {
      token_url: textField({
        label: "Token URL",
        hint: "The check requests an access token there, by client credentials, and sends it as Authorization: Bearer.",
      }),
      client_id: textField({ label: "Client ID", maxlength: 500 }),
      client_secret: secretTextField({
        field: "oauth2_client_secret",
        noun: "client secret",
        label: "Client secret",
        hint: "Optional.",
        maxlength: 2_000,
      }),
      scopes: optional(scopesField()),
      audience: optional(
        textField({
          label: "Audience",
          hint: "Optional. Some servers need it, such as Auth0.",
          maxlength: 2_000,
        }),
      ),
      auth: optional(
        selectField({
          label: "Authentication method",
          initial: "basic",
          options: [
            { value: "basic", label: "Authorization header (Basic)" },
            { value: "body", label: "Body of the request" },
          ],
        }),
      ),
    },
  });
}

/** Field for scopes, separated by spaces. */
function scopesField(): Field<string, string[]> {
  return {
    ...textField({ label: "Scopes", hint: "Optional. Separated by spaces." }),
    toBody: (typed) => typed.trim().split(/\s+/),
    fromStored: (scopes) => scopes.join(" "),
  };
}

export function digestField() {
  return partsField({
    field: "digest",
    label: "Digest sign-in",
    noun: "Digest sign-in",
    parts: {
      username: textField({
        label: "Digest user name",
        hint: "Sent to the server of the URL if it asks for Digest sign-in, with a hash of the password.",
        maxlength: 255,
      }),
      password: secretTextField({
        field: "digest_password",
        noun: "Digest password",
        label: "Digest password",
        hint: "Optional.",
        maxlength: 1_000,
      }),
    },
  });
}

export function clientCertificateField() {
  return partsField({
    field: "client_certificate",
    label: "Client certificate",
    noun: "the client certificate",
    parts: {
      certificate: certificatesField({
        label: "Certificate",
        hint: "In PEM, with its chain if the server needs it. By it, the check identifies itself to the server.",
        maxlength: 32_000,
      }),
      key: secretTextField({
        field: "client_certificate_key",
        noun: "private key",
        label: "Private key",
        hint: "In PEM, not encrypted.",
        rows: 4,
        isPasted: true,
        maxlength: 16_000,
        isRequired: true,
      }),
      ca: optional(
        certificatesField({
          label: "CA certificates",
          hint: "Optional. In PEM. Authorities to trust in addition, such as one of your own that signed the server's certificate.",
          maxlength: 64_000,
        }),
      ),
    },
  });
}

/** Field for certificates in PEM. Its hint names the subjects and end dates of the first ones. */
export function certificatesField(options: {
  label: string;
  hint: string;
  maxlength: number;
}): Field<string, string, CertificatesContext> {
  return {
    ...textAreaField(options),
    Input({ name, value, errors, context: { now } }) {
      // A private key that was pasted by mistake is not shown again.
      const shown = value.includes(PRIVATE_KEY) ? "" : value;
      const facts = certificatesIn(shown).map((each) => sentenceOf(each, now));
      return (
        <TextArea
          {...options}
          name={name}
          value={shown}
          error={errors[name]}
          hint={[...facts, options.hint].join(" ")}
          isPasted
        />
      );
    },
  };
}

function sentenceOf({ subject, expiresAt }: CertificateFacts, now: number): string {
  const end = longDay(toIso(expiresAt));
  return `“${subject}”: ${expiresAt > now ? "valid until" : "expired on"} ${end}.`;
}

export function connectToField() {
  return partsField({
    field: "connect_to",
    label: "Connect to",
    noun: "the address to connect to",
    parts: {
      address: textField({
        label: "Connect to",
        hint: "Optional. A name or an IP address of the connection, in the place of the one that the name of the server has.",
      }),
      port: optional(
        integerField({
          label: "Port to connect to",
          hint: "Optional. Empty means the port of the server.",
        }),
      ),
    },
  });
}

export function proxyField() {
  return partsField({
    field: "proxy",
    label: "Proxy",
    noun: "the proxy",
    parts: {
      url: textField({
        label: "Proxy URL",
        hint: "With http:// or https://, host and port only. All requests of the check go through the proxy.",
      }),
      username: optional(
        textField({ label: "Proxy user name", hint: "Optional.", maxlength: 255 }),
      ),
      password: secretTextField({
        field: "proxy_password",
        noun: "proxy password",
        label: "Proxy password",
        hint: "Optional.",
        maxlength: 1_000,
      }),
    },
  });
}
