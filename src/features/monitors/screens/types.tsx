import { CRON_MAX } from "../../../base/cron";
import type { MonitorType } from "../../../base/status";
import { plural } from "../../../base/text";
import { DNS_RECORD_TYPES, TLS_VERSIONS } from "../../../egress/model";
import { CheckLines } from "../../../ui/choices";
import { TextArea, TextField } from "../../../ui/form";
import {
  checkboxField,
  integerField,
  linesField,
  linesOf,
  selectField,
  textField,
  timeZoneField,
} from "../../../ui/forms/fields";
import { type AnyField, type Field, nullable, optional } from "../../../ui/forms/form";
import type { IconName } from "../../../ui/icons";
import { mappingField, matchersField, type WatchdogContext } from "./alert-fields";
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
  /** Purpose in a few words. */
  purpose: string;
  /** Further words by which people look for the type, beside those of its label and purpose. */
  words: string;
  icon: IconName;
  /** Fields of the configuration that a new monitor needs, by the names that the API gives them, in order. */
  fields: Readonly<Record<string, AnyField>>;
  /** Names of fields that stand beside each other. */
  pairs?: readonly (readonly string[])[];
  /** Further fields, shown in the fold “More options”, which most monitors keep at their defaults. */
  advanced?: Readonly<Record<string, AnyField>>;
  /** Names of further fields by the title of the fold in which they are shown. */
  folds?: Readonly<Record<string, readonly string[]>>;
  /** Returns what counts as a success, by the values of the further fields. */
  summary?: (valueOf: (field: string) => unknown) => string;
  /** True if jobs send heartbeats, so that the server runs no checks. */
  isPush?: boolean;
}

const HOST_AND_PORT = [["host", "port"]];
const USER_AND_PASSWORD = ["user", "password"];
const TLS_RULES = ["ca", "tls_min", "allow_plain_password", "certificate_warning_days"];

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Forms by monitor type: purpose and fields of each, which come from those below. */
export const TYPE_FORMS: Readonly<Record<MonitorType, TypeForm>> = {
  http: {
    purpose: "A web address answers as it should",
    words: "website web site page url api rest https endpoint keyword json health uptime server",
    icon: "globe",
    fields: {
      url: textField({ label: "URL", isRequired: true }),
    },
    folds: {
      "Headers and body": ["headers", "body"],
      "Host and address": ["host", "connect_to", "ip_family"],
      "OAuth 2.0": ["oauth2"],
      "Digest sign-in": ["digest"],
      "Client certificate": ["client_certificate"],
      Proxy: ["proxy"],
      "TLS and certificate": ["verify_tls", "ca", "tls_min", "certificate_warning_days"],
      "Redirects and size": ["follow_redirects", "max_body_kb"],
    },
    summary: (valueOf) => describeConditions(valueOf("assertions"), "expects status 200–299"),
    advanced: {
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
    purpose: "A port accepts connections",
    words: "socket telnet open service game server minecraft ftp ldap rdp vnc imap pop3 nfs host",
    icon: "server",
    fields: { host: hostField(), port: portField() },
    pairs: HOST_AND_PORT,
  },
  tls: {
    purpose: "A certificate is valid and does not expire soon",
    words: "ssl cert https expiry expiration x509 lets encrypt",
    icon: "lock",
    fields: { host: hostField(), port: portField(443) },
    pairs: HOST_AND_PORT,
    folds: { Address: ["connect_to"] },
    summary: (valueOf) => `needs ${valueOf("days")} days of validity`,
    advanced: {
      days: nullable(
        integerField({
          label: "Minimum validity (days)",
          hint: "The check fails if the certificate, or one that the server sends with it, expires in fewer days.",
          initial: 14,
        }),
      ),
      ...tlsRulesFields(),
      connect_to: connectToField(),
    },
  },
  dns: {
    purpose: "A name has the records that you expect",
    words: "domain nameserver resolver resolve lookup mx txt cname aaaa soa",
    icon: "hash",
    fields: {
      name: textField({
        label: "Name to look up",
        hint: "Or an IP address, for its PTR records.",
        isRequired: true,
      }),
      record_type: selectField({
        label: "Record type",
        initial: "A",
        options: DNS_RECORD_TYPES.map((value) => ({ value, label: value })),
      }),
    },
    pairs: [["name", "record_type"]],
    summary: (valueOf) =>
      String(valueOf("expected")).trim() === "" ? "expects a record" : "expects given records",
    advanced: {
      expected: nullable(
        linesField({
          label: "Expected records",
          hint: "Optional. One per line, in zone file format, such as 10 mail.example.com. All of them must be in the answer; further records are allowed.",
          rows: 3,
        }),
      ),
      resolver: nullable(
        textField({
          label: "Resolver",
          hint: "Optional. IP address of the name server, with a port unless that is 53. Empty means the system's resolver.",
        }),
      ),
    },
  },
  ping: {
    purpose: "A host answers",
    words: "icmp echo server router switch network device online reachable",
    icon: "activity",
    fields: {
      host: hostField(),
    },
  },
  push: {
    purpose: "A job calls in time: cron, backup, queue",
    words: "push scheduled task script timer systemd dead man switch worker passive",
    icon: "clock",
    isPush: true,
    fields: {
      schedule: nullable(
        textField({
          label: "Schedule",
          hint: "Cron expression, such as 0 3 * * * for 03:00 each day: minute, hour, day of month, month and day of week.",
          maxlength: CRON_MAX,
        }),
      ),
      time_zone: nullable(
        timeZoneField({
          label: "Time zone of the schedule",
          hint: "Such as Europe/Berlin. A time that the clock skips or repeats is due once.",
          initial: "UTC",
        }),
      ),
    },
    pairs: [["schedule", "time_zone"]],
    folds: { "Words in bodies of /ping/ calls": ["body_words"] },
    summary: (valueOf) => `${valueOf("grace_seconds")} s grace period`,
    advanced: {
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
  },
  alert: {
    purpose: "Alertmanager, Grafana or another program reports alerts",
    words: "prometheus alertmanager grafana webhook kuma gatus datadog alerts firing receiver",
    icon: "bell",
    fields: {
      format: selectField({
        label: "Sender",
        initial: "alertmanager",
        options: [
          { value: "alertmanager", label: "Alertmanager" },
          { value: "grafana", label: "Grafana" },
          { value: "json", label: "Another sender" },
        ],
      }),
      match: matchersField({
        label: "Matchers",
        hint: 'One per line, such as severity=~"critical|page". The monitor is down while an open alert fulfils all of them. Empty means every alert.',
        rows: 2,
      }),
    },
    folds: {
      "Another sender": ["mapping"],
      "Missing reports": ["stale_after_seconds", "watchdog"],
    },
    advanced: {
      degraded: matchersField({
        label: "Matchers of degraded",
        hint: "Optional. Alerts that fulfil all of these, and not those above, only degrade the monitor.",
        rows: 2,
      }),
      stale_after_seconds: nullable(
        integerField({
          label: "Drop an alert after (seconds)",
          hint: "Without a further report. It must be above the time in which the sender repeats an alert.",
          initial: 18_000,
        }),
      ),
      watchdog: nullable(
        textField<WatchdogContext>({
          label: "Watchdog",
          hint: "Optional. Heartbeat monitor that the sender calls all the time, by its reference. While it is down and no alert is open, there is no data.",
          suggestions: ({ others }) =>
            others.filter(({ type }) => type === "push").map(({ ref }) => ref),
        }),
      ),
      mapping: mappingField,
    },
  },
  websocket: {
    purpose: "A WebSocket opens and sends what it should",
    words: "ws wss socket realtime live",
    icon: "arrow-up-right",
    fields: {
      url: textField({ label: "URL", hint: "With ws:// or wss://.", isRequired: true }),
    },
    folds: {
      Headers: ["headers"],
      "TLS and certificate": ["verify_tls", "ca", "tls_min", "certificate_warning_days"],
    },
    advanced: {
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
    purpose: "A service says that it serves",
    words: "rpc grpc health microservice protobuf",
    icon: "braces",
    fields: {
      host: hostField(),
      port: portField(),
    },
    pairs: HOST_AND_PORT,
    folds: { Metadata: ["metadata"], "TLS and certificate": TLS_RULES },
    advanced: {
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
      ...tlsRulesFields(),
      certificate_warning_days: certificateWarningField(),
    },
  },
  postgres: databaseForm({
    words: "database sql postgres pg db cockroachdb timescale supabase",
    port: 5432,
    empty: "Empty means the database with the name of the user.",
    trueText: "t",
  }),
  mysql: databaseForm({
    words: "database sql db percona tidb",
    port: 3306,
    empty: "Empty means none.",
    trueText: "1",
  }),
  redis: {
    purpose: "A server answers a PING",
    words: "database cache key value store queue keydb dragonfly",
    icon: "archive",
    fields: {
      host: hostField(),
      port: portField(6379),
    },
    pairs: [...HOST_AND_PORT, USER_AND_PASSWORD],
    folds: { "TLS and certificate": TLS_RULES },
    advanced: {
      tls: tlsField(),
      user: userField(),
      password: passwordField(),
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
    purpose: "A broker accepts connections, and a message arrives",
    words: "iot mosquitto queue topic sensor smart home",
    icon: "rss",
    fields: {
      host: hostField(),
      port: portField(1883, "With TLS usually 8883."),
    },
    pairs: [...HOST_AND_PORT, USER_AND_PASSWORD],
    folds: { "TLS and certificate": TLS_RULES },
    advanced: {
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
      ...tlsRulesFields(),
      allow_plain_password: plainPasswordField(),
      certificate_warning_days: certificateWarningField(),
    },
  },
  smtp: {
    purpose: "A mail server lets clients in",
    words: "mail e-mail email postfix exchange starttls relay",
    icon: "mail",
    fields: {
      host: hostField(),
      port: portField(25, "Often 587 with STARTTLS, 465 with TLS."),
    },
    pairs: [...HOST_AND_PORT, USER_AND_PASSWORD],
    folds: { "TLS and certificate": TLS_RULES },
    advanced: {
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
      ...tlsRulesFields(),
      allow_plain_password: plainPasswordField(),
      certificate_warning_days: certificateWarningField(),
    },
  },
  ssh: {
    purpose: "An SSH server answers",
    words: "sftp linux shell remote login",
    icon: "key-round",
    fields: { host: hostField(), port: portField(22) },
    pairs: HOST_AND_PORT,
  },
  docker: {
    purpose: "A container is running and healthy",
    words: "podman compose image",
    icon: "blocks",
    fields: {
      host: dockerHostField(),
      container: textField({ label: "Container", hint: "Name or id.", isRequired: true }),
    },
    pairs: [["host", "container"]],
  },
  domain: {
    purpose: "A domain is registered and does not expire soon",
    words: "whois rdap registrar expiry expiration name tld",
    icon: "calendar",
    fields: {
      domain: textField({ label: "Domain", hint: "Such as example.com.", isRequired: true }),
    },
    summary: (valueOf) => `warns ${valueOf("days")} days before`,
    advanced: {
      days: nullable(
        integerField({
          label: "Warning (days)",
          hint: "A check warns if the domain expires in fewer days, without failing. 0 turns the warning off.",
          initial: 30,
        }),
      ),
    },
  },
  upstream: {
    purpose: "A provider such as a cloud or a CDN says that it works",
    words:
      "status page statuspage provider cloudflare aws github stripe third party dependency saas",
    icon: "book-open",
    fields: {
      url: textField({ label: "Address of the page", isRequired: true }),
      components: componentsField(),
    },
    pairs: [["url", "components"]],
    summary: (valueOf) =>
      String(valueOf("components")).trim() === "" ? "the whole page" : "given components",
    advanced: {
      public_name: nullable(
        textField({
          label: "Public name",
          hint: "Optional. Such as Cloudflare. Visitors then see “Because of Cloudflare: DNS” with a link to its page.",
          maxlength: 255,
        }),
      ),
      format: selectField({
        label: "Software",
        initial: "auto",
        options: [
          { value: "auto", label: "Any" },
          { value: "statuspage", label: "Statuspage" },
          { value: "allclear", label: "Allclear" },
        ],
      }),
    },
  },
  // Imported monitors that this version cannot check. They are never created by a form.
  unsupported: {
    purpose: "An imported monitor that this version cannot check",
    words: "",
    icon: "info",
    fields: {},
  },
};

/** Screen data of the form. */
export interface OfferedContext {
  /** Names of the components of a page that was read for the form; undefined before. */
  offered?: readonly string[] | undefined;
}

/** Field for components of a page, one a line, with checkboxes of those that were loaded. */
function componentsField(): Field<string, string[], OfferedContext> {
  const options = {
    label: "Components",
    hint: "Recommended, one per line. Empty means the whole page, which is rarely good.",
    rows: 1,
  };
  const chosen = (name: string) => `${name}_chosen`;
  return {
    ...linesField(options),
    inputs: { [chosen("config_components")]: "Components of the page" },
    read: (sent, name) =>
      [...new Set([...linesOf(sent.text(name)), ...sent.all(chosen(name))])].join("\n"),
    Input({ name, value, errors, context: { offered = [] } }) {
      const lines = linesOf(value);
      const others = lines.filter((each) => !offered.includes(each)).join("\n");
      const boxes = [...new Set(offered)].map((each) => ({
        value: each,
        label: each,
        note: "",
        isChecked: lines.includes(each),
      }));
      return (
        <>
          <TextArea {...options} name={name} value={others} error={errors[name]} />
          {boxes.length === 0 ? null : (
            <CheckLines
              legend="Components of the page"
              name={chosen(name)}
              error={undefined}
              options={boxes}
            />
          )}
        </>
      );
    },
  };
}

interface DatabaseOptions {
  /** Further words by which people look for it. */
  words: string;
  port: number;
  /** Effect of no database, as a sentence. */
  empty: string;
  /** Text of the value "true". */
  trueText: string;
}

/** Returns the form of a database. */
function databaseForm({ words, port, empty, trueText }: DatabaseOptions): TypeForm {
  return {
    purpose: "The database answers a query",
    words,
    icon: "archive",
    fields: {
      host: hostField(),
      port: portField(port),
      user: textField({
        label: "User name",
        hint: "Of a user that may only read what the query needs.",
        isRequired: true,
      }),
      password: passwordField(),
    },
    pairs: [...HOST_AND_PORT, USER_AND_PASSWORD, ["database", "tls"]],
    folds: { Query: ["query", "expected"], "TLS and certificate": TLS_RULES },
    advanced: {
      database: nullable(textField({ label: "Database", hint: `Optional. ${empty}` })),
      tls: tlsField(),
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
      ...tlsRulesFields(),
      allow_plain_password: plainPasswordField(),
      certificate_warning_days: certificateWarningField(),
    },
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
            ? "The server has no Docker hosts yet. Its setting ALLCLEAR_DOCKER_HOSTS names them."
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

/** Returns the number of conditions, or what holds without any. */
function describeConditions(rows: unknown, none: string): string {
  const count = Array.isArray(rows) ? rows.length : 0;
  return count === 0 ? none : plural(count, "condition");
}

/* Fields that the forms of several types share. */

function hostField() {
  return textField({ label: "Host", isRequired: true });
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
