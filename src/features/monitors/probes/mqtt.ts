import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { LineText } from "../../../base/texts";
import { type Assertion, AssertionBody, validateAssertions } from "../assertions/assertions";
import { shownSchema, withoutSecrets } from "../../../base/secrets";
import type { Probe } from "../monitoring";
import {
  AllowPlainPassword,
  HostText,
  Password,
  portField,
  serverTarget,
  TLS_FIELDS,
  TlsField,
  UserName,
  validateHostField,
  WarningDays,
  validatePlainPassword,
  withPlainPassword,
  withPasswordDefaults,
} from "./fields";
import { secretRules, usesByFields } from "./secret-uses";

const DEFAULT_PORT = 1883;
const ASSERTIONS_MAX = 30;

const MqttConfig = Type.Object(
  {
    host: HostText,
    port: portField(DEFAULT_PORT),
    tls: TlsField,
    user: Type.Optional(UserName),
    password: Type.Optional(Password),
    topic: Type.Optional(
      LineText({
        minLength: 1,
        maxLength: 1_000,
        description:
          "Topic of a message, retained or sent within the timeout. Default: only the connection is checked.",
        examples: ["sensors/kitchen/temperature"],
      }),
    ),
    assertions: Type.Optional(
      Type.Array(AssertionBody, {
        maxItems: ASSERTIONS_MAX,
        description:
          "Conditions with the sources body and json that a message must all meet. Messages that do not are ignored until the timeout.",
      }),
    ),
    ...TLS_FIELDS,
    certificate_warning_days: Type.Optional(WarningDays),
    allow_plain_password: Type.Optional(AllowPlainPassword),
  },
  {
    additionalProperties: false,
    examples: [{ host: "broker.example.com", topic: "sensors/kitchen/temperature" }],
  },
);
type MqttConfig = Static<typeof MqttConfig>;

const completed = (config: MqttConfig) =>
  withPasswordDefaults(withPlainPassword(config), DEFAULT_PORT);

export type CompletedMqttConfig = ReturnType<typeof completed>;

const RULES = secretRules<MqttConfig>(
  MqttConfig,
  usesByFields(MqttConfig, ["password", "assertions", "certificate_warning_days"], completed),
);

/** Checks that an MQTT broker accepts a connection and delivers a message. */
export const mqttProbe = {
  type: "mqtt",
  label: "MQTT broker",
  config: MqttConfig,
  shown: shownSchema(MqttConfig),
  validate: (config) => [
    ...validateHostField(config),
    ...validateSession(config),
    ...validatePlainPassword(config),
  ],
  validateChange: RULES.validateChange,
  present: (config) => withoutSecrets(MqttConfig, completed(config)),
  merge: (before, change) => RULES.merge(withPlainPassword(before), change),
  targetOf: ({ topic, ...config }) =>
    [serverTarget(config, DEFAULT_PORT), ...(topic === undefined ? [] : [topic])].join(" "),
  run: async (config, context) =>
    (await import("./checks/mqtt")).checkMqtt(completed(config), context),
} satisfies Probe<"mqtt", MqttConfig>;

/** Returns errors of the credentials, the topic and the conditions on its messages. */
function validateSession({ topic, user, password, assertions = [] }: MqttConfig): FieldError[] {
  const errors = validateAssertions(assertions, false, "assertions");
  // A level is a wildcard or contains none (MQTT 3.1.1, 4.7).
  if (topic !== undefined && !/^(?:(?:\+|[^+#/]*)\/)*(?:#|\+|[^+#/]*)$/.test(topic)) {
    errors.push({ pointer: pointer("topic"), detail: "has a wildcard in the middle of a level" });
  }
  if (user === undefined && password !== undefined) {
    errors.push({ pointer: pointer("user"), detail: "is missing for the password" });
  }
  if (topic === undefined && assertions.length > 0) {
    errors.push({ pointer: pointer("assertions"), detail: "need a topic" });
  }
  const foreign = assertions.findIndex(({ source }) => !ofMessage(source));
  if (foreign >= 0) {
    const at = pointer("assertions", foreign, "source");
    errors.push({ pointer: at, detail: "must be body or json for a message" });
  }
  return errors;
}

function ofMessage(source: Assertion["source"]): boolean {
  return source === "body" || source === "json";
}
