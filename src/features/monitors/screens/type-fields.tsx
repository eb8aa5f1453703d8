/* Fields for objects in the configuration of a monitor, and those of HTTP monitors. */
import { localTime } from "../../../base/zones";
import { Checkbox } from "../../../ui/choices";
import { TextArea } from "../../../ui/form";
import { integerField, selectField, textAreaField, textField } from "../../../ui/forms/fields";
import { type AnyField, type Field, InvalidInput, optional } from "../../../ui/forms/form";
import { longDay, useZone } from "../../../ui/times";
import { type CertificateFacts, certificatesIn, PRIVATE_KEY } from "../probes/client-certificate";
import { inputOf } from "./rows";
import { type SecretsContext, secretTextField } from "./secrets";

/** Content of the inputs of an object. */
interface TypedParts {
  parts: Readonly<Record<string, unknown>>;
  isRemoved: boolean;
}

interface PartsOptions {
  /** Name of the object in the configuration. */
  field: string;
  label: string;
  /** Name of the object in the middle of a sentence, such as "the proxy". */
  noun: string;
  /** Fields of its parts by the names that the API gives them, in order. */
  parts: Readonly<Record<string, AnyField>>;
}

/**
 * Field for an object in a configuration, with inputs for each of its parts. Its body is null while all
 * inputs are empty, and to remove the object. Stored secrets that the body leaves out are kept.
 */
export function partsField<Context extends SecretsContext>({
  field,
  label,
  noun,
  parts,
}: PartsOptions): Field<TypedParts, Readonly<Record<string, unknown>> | null, Context> {
  const entries = Object.entries(parts);
  const nameOf = (part: string) => `${inputOf(field)}_${part}`;
  const collect = (content: (part: string, partField: AnyField) => unknown): TypedParts => ({
    parts: Object.fromEntries(entries.map(([part, each]) => [part, content(part, each)])),
    isRemoved: false,
  });
  const initial = collect((_, { initial: content }) => content);
  const isBlank = (typed: unknown, each: AnyField) =>
    typed === "" || Bun.deepEquals(typed, each.initial);

  return {
    label,
    initial,
    inputs: Object.fromEntries(entries.map(([part, each]) => [nameOf(part), each.label])),
    read: (sent, name) => ({
      ...collect((part, each) => each.read(sent, nameOf(part))),
      isRemoved: sent.text(`${name}_remove`) === "yes",
    }),
    toBody({ parts: typed, isRemoved }, context) {
      if (isRemoved) return null;
      const body: Record<string, unknown> = {};
      let isGiven = false;
      for (const [part, each] of entries) {
        const value: unknown = each.toBody(typed[part], context);
        if (value instanceof InvalidInput) {
          return new InvalidInput(value.detail, value.input ?? nameOf(part));
        }
        if (value === undefined) continue;
        body[part] = value;
        isGiven ||= value !== null && !isBlank(typed[part], each);
      }
      return isGiven ? body : null;
    },
    fromStored: (shown) =>
      shown === null ? initial : collect((part, each) => storedPart(shown, part, each)),
    showError(error, typed) {
      const [first = ""] = Object.keys(parts);
      const named = error.pointer.split("/")[3] ?? first;
      const part = Object.hasOwn(parts, named) ? named : first;
      const { input = nameOf(part), detail } = parts[part]?.showError?.(
        error,
        typed.parts[part],
      ) ?? {
        detail: error.detail,
      };
      return { input, detail };
    },
    Input: ({ name, value, errors, context }) => (
      <>
        {entries.map(([part, { Input }]) => (
          <Input
            key={part}
            name={nameOf(part)}
            value={value.parts[part]}
            errors={errors}
            context={context}
          />
        ))}
        {entries.every(([part, each]) => isBlank(value.parts[part], each)) ? null : (
          <Checkbox label={`Remove ${noun}`} name={`${name}_remove`} isChecked={value.isRemoved} />
        )}
      </>
    ),
  };
}

/** Returns the content of the inputs of a part. Of a secret, an object shows only if it is stored. */
function storedPart(shown: Readonly<Record<string, unknown>>, part: string, field: AnyField) {
  const isStored = shown[`has_${part}`];
  if (isStored !== undefined) return field.fromStored(isStored === true ? "" : null);
  return shown[part] == null ? field.initial : field.fromStored(shown[part]);
}

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
      const zone = useZone();
      // A private key that was pasted by mistake is not shown again.
      const shown = value.includes(PRIVATE_KEY) ? "" : value;
      const facts = certificatesIn(shown).map((each) => sentenceOf(each, now, zone));
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

function sentenceOf({ subject, expiresAt }: CertificateFacts, now: number, zone: string): string {
  const end = longDay(localTime(expiresAt, zone));
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
