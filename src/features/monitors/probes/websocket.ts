import { type Static, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { Text } from "../../../base/schema";
import { Secret, SecretValues, shownSchema, withoutSecrets } from "../../../base/secrets";
import type { Probe } from "../monitoring";
import {
  DEFAULT_TLS_MIN,
  DEFAULT_WARNING_DAYS,
  TLS_FIELDS,
  VerifyTls,
  WarningDays,
} from "./fields";
import { secretRules, steeringUsesOf, usesByFields } from "./secret-uses";
import { Url, urlError, urlTarget, validateHeaders } from "./urls";

const SCHEMES = ["ws", "wss"] as const;
const SUBPROTOCOLS_MAX = 10;
const CLOSE_CODES_MAX = 20;
const LONGEST_MESSAGE = 64_000;

const WebSocketConfig = Type.Object(
  {
    url: Url(SCHEMES, "wss://example.com/updates"),
    subprotocols: Type.Optional(
      // A token of RFC 9110.
      Type.Array(
        Text({
          minLength: 1,
          maxLength: 100,
          pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
          mismatch: "must have no spaces and no separators such as / and :",
        }),
        {
          maxItems: SUBPROTOCOLS_MAX,
          uniqueItems: true,
          description: "Subprotocols of which the server must choose one.",
        },
      ),
    ),
    headers: Type.Optional(SecretValues({ description: "Headers of the upgrade, by name." })),
    verify_tls: Type.Optional(VerifyTls),
    send: Type.Optional(
      Secret({
        maxLength: LONGEST_MESSAGE,
        description: "Message to send. It is a secret and is never returned.",
      }),
    ),
    expected: Type.Optional(
      Text({
        minLength: 1,
        maxLength: 1_000,
        description: "Text that the first message must contain. Default: no message is awaited.",
      }),
    ),
    close_codes: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1_000, maximum: 4_999 }), {
        minItems: 1,
        maxItems: CLOSE_CODES_MAX,
        uniqueItems: true,
        description:
          "Codes of which one must be in the server's closing frame. Default: it is not awaited.",
      }),
    ),
    ...TLS_FIELDS,
    certificate_warning_days: Type.Optional(WarningDays),
  },
  { additionalProperties: false, examples: [{ url: "wss://example.com/updates" }] },
);
type WebSocketConfig = Static<typeof WebSocketConfig>;

const completed = (config: WebSocketConfig) => ({
  ...config,
  verify_tls: config.verify_tls ?? true,
  tls_min: config.tls_min ?? DEFAULT_TLS_MIN,
  certificate_warning_days: config.certificate_warning_days ?? DEFAULT_WARNING_DAYS,
});

export type CompletedWebSocketConfig = ReturnType<typeof completed>;

const fieldUsesOf = usesByFields(
  WebSocketConfig,
  ["headers", "expected", "close_codes", "certificate_warning_days"],
  completed,
);

const RULES = secretRules<WebSocketConfig>(WebSocketConfig, (config) => [
  ...fieldUsesOf(config),
  ...steeringUsesOf(config.headers),
]);

/** Checks that a WebSocket opens, and answers. */
export const websocketProbe = {
  type: "websocket",
  label: "WebSocket",
  config: WebSocketConfig,
  shown: shownSchema(WebSocketConfig),
  validate: validateWebSocket,
  validateChange: RULES.validateChange,
  present: (config) => withoutSecrets(WebSocketConfig, completed(config)),
  merge: RULES.merge,
  targetOf: urlTarget,
  run: async (config, context) =>
    (await import("./checks/websocket")).checkWebSocket(completed(config), context),
} satisfies Probe<"websocket", WebSocketConfig>;

/** Headers of the upgrade that the protocol sets. */
const OWN_HEADERS = /^sec-websocket-/i;

function validateWebSocket({ url, headers = {} }: WebSocketConfig): FieldError[] {
  const problem = urlError(url, SCHEMES);
  const own = Object.keys(headers).filter((name) => OWN_HEADERS.test(name));
  const hasFragment = problem === undefined && url.includes("#");
  return [
    ...(hasFragment ? [{ pointer: pointer("url"), detail: "must not contain a fragment" }] : []),
    ...(problem === undefined ? [] : [{ pointer: pointer("url"), detail: problem }]),
    ...validateHeaders(headers),
    ...own.map((name) => ({
      pointer: pointer("headers", name),
      detail: "is set by Allclear itself",
    })),
  ];
}
