import { CRON_MAX } from "../../../base/cron";
import type { MonitorType } from "../../../base/status";
import { DNS_RECORD_TYPES, TLS_VERSIONS } from "../../../egress/model";
import { TextField } from "../../../ui/form";
import {
  checkboxField,
  integerField,
  selectField,
  textAreaField,
  textField,
} from "../../../ui/forms/fields";
import { type AnyField, type Field, nullable, optional } from "../../../ui/forms/form";
import { assertionsField } from "./assertion-field";
import { passwordField, secretTextField, secretValuesField } from "./secrets";
import {
  certificatesField,
  clientCertificateField,
  connectToField,
  digestField,
  oauth2Field,
  partsField,
  proxyField,
} from "./type-fields";

/** Form of a monitor type. */
interface TypeForm {
  /** Sentence that describes the check. */
  sentence: string;
  /** Fields of the configuration by the names that the API gives them, in order. */
  fields: Readonly<Record<string, AnyField>>;
  /** Names of fields by the title of the fold in which they are shown. */
  folds?: Readonly<Record<string, readonly string[]>>;
  /** Further fields, shown in the fold “More”, which most monitors keep at their defaults. */
  advanced?: Readonly<Record<string, AnyField>>;
  /** True if jobs send heartbeats, so that the server runs no checks. */
  isPush?: boolean;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Forms by monitor type: sentence and fields of each, which come from those below. */
export const TYPE_FORMS: Readonly<Record<MonitorType, TypeForm>> = {
  http: {
    sentence: "Requests a web address, and fails unless the response is as expected.",
    fields: {
      url: textField({
        label: "URL",
        hint: "With http:// or https://. Addresses in your own network are allowed.",
        isRequired: true,
      }),
      method: selectField({
        label: "Method",
        initial: "GET",
        options: METHODS.map((value) => ({ value, label: value })),
      }),
      assertions: assertionsField({
        hint: "All conditions must hold. Without a condition for the status, only 2xx succeeds. Headers need a name, JSON values a path such as $.checks[0].status. Separate the values of “is one of” by commas; a status can be a range such as 200-299.",
      }),
      headers: secretValuesField({
        noun: "headers",
        label: "Headers",
        rowLabel: "Header",
        hint: "Sent with each request, such as Authorization.",
      }),
      body: secretTextField({
        field: "body",
        noun: "body",
        label: "Body",
        hint: "Optional. Sent with each request except GET and HEAD.",
        rows: 3,
        maxlength: 64_000,
      }),
      host: nullable(
        textField({
          label: "Host",
          hint: "Optional. Name by which the server is known, such as app.example.com for a URL with an IP address: for the header Host and in TLS.",
          maxlength: 255,
        }),
      ),
      connect_to: connectToField(),
      oauth2: oauth2Field(),
      digest: digestField(),
      client_certificate: clientCertificateField(),
      proxy: proxyField(),
    },
    folds: {
      "Headers and body": ["headers", "body"],
      "Host and address": ["host", "connect_to"],
      "OAuth 2.0": ["oauth2"],
      "Digest sign-in": ["digest"],
      "Client certificate": ["client_certificate"],
      Proxy: ["proxy"],
    },
    advanced: {
      follow_redirects: checkboxField({
        label: "Follow redirects",
        hint: "If unchecked, a redirect counts as the response.",
        initial: true,
      }),
      verify_tls: checkboxField({
        label: "Verify the certificate",
        hint: "If unchecked, any certificate is accepted, even an expired one.",
        initial: true,
      }),
      ip_family: selectField({
        label: "IP version",
        initial: "any",
        options: [
          { value: "any", label: "Any" },
          { value: "ipv4", label: "IPv4 only" },
          { value: "ipv6", label: "IPv6 only" },
        ],
      }),
      ...tlsRulesFields(),
      max_body_kb: nullable(
        integerField({
          label: "Body limit (KiB)",
          hint: "Part of the body that conditions read, up to 4,096. A condition that the rest decides fails.",
          initial: 256,
        }),
      ),
      certificate_warning_days: certificateWarningField(),
    },
  },
  tcp: {
    sentence: "Opens a connection to a port, and fails if the connection is not accepted.",
    fields: {
      host: hostField(),
      port: portField(),
    },
  },
  tls: {
    sentence: "Checks the certificate of a server, and fails before it expires.",
    fields: {
      host: hostField(),
      port: portField(443),
      days: nullable(
        integerField({
          label: "Minimum validity (days)",
          hint: "The check fails if the certificate, or one that the server sends with it, expires in fewer days.",
          initial: 14,
        }),
      ),
      connect_to: connectToField(),
    },
    folds: { Address: ["connect_to"] },
    advanced: tlsRulesFields(),
  },
  dns: {
    sentence: "Looks up a name, and fails unless the records are as expected.",
    fields: {
      name: textField({
        label: "Name to look up",
        hint: "Such as example.com, or an IP address for its PTR records.",
        isRequired: true,
      }),
      record_type: selectField({
        label: "Record type",
        initial: "A",
        options: DNS_RECORD_TYPES.map((value) => ({ value, label: value })),
      }),
      expected: nullable(recordsField()),
    },
    advanced: {
      resolver: nullable(
        textField({
          label: "Resolver",
          hint: "Optional. IP address of the name server, with a port unless that is 53. Empty means the system's resolver.",
        }),
      ),
    },
  },
  ping: {
    sentence: "Sends an echo request, and fails if no answer arrives.",
    fields: {
      host: hostField(),
    },
  },
  push: {
    sentence:
      "Waits for a job to call, and fails if no call arrives in time. The job gets its own address, which is shown once.",
    isPush: true,
    fields: {
      schedule: nullable(
        textField({
          label: "Schedule",
          hint: "Cron expression for “By a schedule”, such as 0 3 * * * for 03:00 each day: minute, hour, day of month, month and day of week.",
          maxlength: CRON_MAX,
        }),
      ),
      time_zone: nullable(
        textField({
          label: "Time zone of the schedule",
          hint: "Such as Europe/Berlin. A time that the clock skips or repeats is due once.",
          initial: "UTC",
          suggestions: ["UTC", ...Intl.supportedValuesOf("timeZone")],
        }),
      ),
      grace_seconds: nullable(
        integerField({
          label: "Grace period (seconds)",
          hint: "Extra time for a call before the check fails, and longest time from a start to its end.",
          initial: 60,
        }),
      ),
      body_words: partsField({
        field: "body_words",
        label: "Words in bodies",
        noun: "the words",
        parts: {
          failure: wordsField(
            "Words of a failure",
            "Optional. Separated by commas, such as ERROR.",
          ),
          success: wordsField("Words of a success", "Optional. Separated by commas."),
          start: wordsField("Words of a start", "Optional. Separated by commas."),
          otherwise: optional(
            selectField({
              label: "Call without any of the words",
              initial: "ignore",
              options: [
                { value: "ignore", label: "Is kept as a message" },
                { value: "fail", label: "Is a failure" },
              ],
            }),
          ),
        },
      }),
    },
    folds: { "Words in bodies of /ping/ calls": ["body_words"] },
  },
  websocket: {
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
  },
  grpc: {
    sentence:
      "Calls the health service of a gRPC server (grpc.health.v1), and fails unless the status is SERVING.",
    fields: {
      host: hostField(),
      port: portField(),
      tls: tlsField(),
      service: nullable(
        textField({
          label: "Service",
          hint: "Optional. Such as acme.orders.v1.Orders. Empty means the server as a whole.",
        }),
      ),
      metadata: secretValuesField({
        noun: "metadata",
        label: "Metadata",
        rowLabel: "Entry",
        hint: "Sent with each call, such as authorization.",
      }),
    },
    folds: { Metadata: ["metadata"] },
    advanced: { ...tlsRulesFields(), certificate_warning_days: certificateWarningField() },
  },
  postgres: databaseForm({
    name: "PostgreSQL",
    port: 5432,
    empty: "Empty means the database with the name of the user.",
    trueText: "t",
  }),
  mysql: databaseForm({
    name: "MySQL or MariaDB",
    port: 3306,
    empty: "Empty means none.",
    trueText: "1",
  }),
  redis: {
    sentence: "Signs in to a Redis or Valkey server, and fails if a PING is not answered.",
    fields: {
      host: hostField(),
      port: portField(6379),
      tls: tlsField(),
      user: userField(),
      password: passwordField(),
    },
    advanced: {
      database: nullable(
        integerField({ label: "Database", hint: "Optional. Number of a database to select." }),
      ),
      role: nullable(
        selectField({
          label: "Role",
          hint: "The check fails if the server has another role.",
          empty: "Any",
          options: [
            { value: "master", label: "Master" },
            { value: "replica", label: "Replica" },
          ],
        }),
      ),
      ...tlsRulesFields(),
      allow_plain_password: plainPasswordField(),
      certificate_warning_days: certificateWarningField(),
    },
  },
  mqtt: {
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
  },
  smtp: {
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
  },
  ssh: {
    sentence: "Connects to an SSH server, and fails if the server does not identify itself.",
    fields: { host: hostField(), port: portField(22) },
  },
  docker: {
    sentence:
      "Asks Docker for the state of a container, and fails unless it is running and healthy.",
    fields: {
      host: dockerHostField(),
      container: textField({ label: "Container", hint: "Its name or id.", isRequired: true }),
    },
  },
  domain: {
    sentence: "Asks the registry when a domain expires, and fails once it has expired.",
    fields: {
      domain: textField({ label: "Domain", hint: "Such as example.com.", isRequired: true }),
      days: nullable(
        integerField({
          label: "Warning (days)",
          hint: "A check warns if the domain expires in fewer days, without failing. 0 turns the warning off.",
          initial: 30,
        }),
      ),
    },
  },
  // Imported monitors that this version cannot check. They are never created by a form.
  unsupported: {
    sentence: "Keeps an imported monitor that this version cannot check.",
    fields: {},
  },
};

interface DatabaseOptions {
  name: string;
  port: number;
  /** Effect of no database, as a sentence. */
  empty: string;
  /** Text of the value "true". */
  trueText: string;
}

/** Returns the form of a database. */
function databaseForm({ name, port, empty, trueText }: DatabaseOptions): TypeForm {
  return {
    sentence: `Signs in to a ${name} database and runs a query, and fails if the result is not as expected.`,
    fields: {
      host: hostField(),
      port: portField(port),
      tls: tlsField(),
      database: nullable(textField({ label: "Database", hint: `Optional. ${empty}` })),
      user: textField({
        label: "User name",
        hint: "Of a user that may only read what the query needs.",
        isRequired: true,
      }),
      password: passwordField(),
      query: secretTextField({
        field: "query",
        noun: "query",
        label: "Query",
        hint: "Optional. One statement, such as SELECT count(*) < 100 FROM jobs; SELECT 1 if empty. It cannot write.",
        rows: 3,
        maxlength: 10_000,
      }),
      expected: nullable(
        textField({
          label: "Expected value",
          hint: `Optional. Text of the first value in the first row. True is ${trueText}.`,
          maxlength: 1_000,
        }),
      ),
    },
    folds: { Query: ["query", "expected"] },
    advanced: {
      ...tlsRulesFields(),
      allow_plain_password: plainPasswordField(),
      certificate_warning_days: certificateWarningField(),
    },
  };
}

/** Field for DNS records, one a line. */
function recordsField(): Field<string, readonly string[]> {
  return {
    ...textAreaField({
      label: "Expected records",
      hint: "Optional. One per line, in zone file format, such as 10 mail.example.com. All of them must be in the answer; further records are allowed.",
      rows: 3,
    }),
    toBody: (typed) =>
      typed
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== ""),
    fromStored: (records) => records.join("\n"),
  };
}

/** Screen data of the form. */
export interface DockerContext {
  /** Names of the Docker hosts in the server's settings. */
  dockerHosts: readonly string[];
}

/** Field for a Docker host, which offers those of the server. */
function dockerHostField(): Field<string, string, DockerContext> {
  const label = "Docker host";
  return {
    ...textField({ label }),
    Input: ({ name, value, errors, context: { dockerHosts } }) => (
      <TextField
        label={label}
        name={name}
        value={value}
        hint={
          dockerHosts.length === 0
            ? "The server has no Docker hosts yet. Its setting ALLCLEAR_DOCKER_HOSTS names them, such as local=unix:///var/run/docker.sock."
            : `Name of a host in the server's setting ALLCLEAR_DOCKER_HOSTS: ${dockerHosts.join(", ")}.`
        }
        error={errors[name]}
        autocomplete="off"
        required
        suggestions={dockerHosts}
      />
    ),
  };
}

/** Field for words, separated by commas. */
function wordsField(label: string, hint: string): Field<string, readonly string[]> {
  return optional({
    ...textField({ label, hint }),
    toBody: (typed) =>
      typed
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== ""),
    fromStored: (words: readonly string[]) => words.join(", "),
  });
}

/* Fields that the forms of several types share. */

function hostField() {
  return textField({ label: "Host", hint: "A name or an IP address.", isRequired: true });
}

/** Field for a port with a default, or a required one. */
function portField(initial?: number, hint = "") {
  return initial === undefined
    ? integerField({ label: "Port", isRequired: true })
    : nullable(integerField({ label: "Port", initial, hint }));
}

function tlsField() {
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

function plainPasswordField() {
  return checkboxField({
    label: "Allow a plain password",
    hint: "Sends the password without TLS, or to a server whose certificate is not verified. Others on the network may read it.",
  });
}

function userField() {
  return nullable(textField({ label: "User name", hint: "Optional." }));
}

/** Fields of the rules for TLS that every type with TLS has. */
function tlsRulesFields() {
  return {
    ca: nullable(
      certificatesField({
        label: "Authorities",
        hint: "Optional. Certificates in PEM to trust in addition, such as that of an authority of your own.",
        maxlength: 64_000,
      }),
    ),
    tls_min: nullable(
      selectField({
        label: "Oldest TLS version",
        hint: "Older devices need 1.0 or 1.1, which are not safe.",
        initial: "1.2",
        options: TLS_VERSIONS.map((value) => ({ value, label: `TLS ${value}` })),
      }),
    ),
  };
}

function certificateWarningField() {
  return nullable(
    integerField({
      label: "Certificate warning (days)",
      hint: "A check warns if the certificate, or one that the server sends with it, expires in fewer days, without failing. 0 turns the warning off.",
      initial: 14,
    }),
  );
}

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
