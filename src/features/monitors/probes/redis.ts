import { type Static, Type } from "@sinclair/typebox";
import { OneOf } from "../../../base/schema";
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

const DEFAULT_PORT = 6379;
const ROLES = ["master", "replica"] as const;

const RedisConfig = Type.Object(
  {
    host: HostText,
    port: portField(DEFAULT_PORT),
    user: Type.Optional(UserName),
    password: Type.Optional(Password),
    tls: TlsField,
    database: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 65_535, description: "Number of the database." }),
    ),
    role: Type.Optional(
      OneOf(ROLES, { description: "Role that the server must have. Default: any." }),
    ),
    ...TLS_FIELDS,
    certificate_warning_days: Type.Optional(WarningDays),
    allow_plain_password: Type.Optional(AllowPlainPassword),
  },
  { additionalProperties: false, examples: [{ host: "cache.example.com", role: "master" }] },
);
type RedisConfig = Static<typeof RedisConfig>;

const completed = (config: RedisConfig) =>
  withPasswordDefaults(withPlainPassword(config), DEFAULT_PORT);

export type CompletedRedisConfig = ReturnType<typeof completed>;

const RULES = secretRules<RedisConfig>(
  RedisConfig,
  usesByFields(RedisConfig, ["password", "role", "certificate_warning_days"], completed),
);

/** Checks that a Redis or Valkey server answers a PING, and has a role. */
export const redisProbe = {
  type: "redis",
  label: "Redis or Valkey",
  config: RedisConfig,
  shown: shownSchema(RedisConfig),
  validate: (config) => [...validateHostField(config), ...validatePlainPassword(config)],
  validateChange: RULES.validateChange,
  present: (config) => withoutSecrets(RedisConfig, completed(config)),
  merge: (before, change) => RULES.merge(withPlainPassword(before), change),
  targetOf: (config) => serverTarget(config, DEFAULT_PORT),
  run: async (config, context) =>
    (await import("./checks/redis")).checkRedis(completed(config), context),
} satisfies Probe<"redis", RedisConfig>;
