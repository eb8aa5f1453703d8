import { type Static, Type } from "@sinclair/typebox";
import { LineText } from "../../../base/texts";
import { Text } from "../../../base/schema";
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
  withPasswordDefaults,
} from "./fields";
import { secretRules, shownConfig, usesByFields } from "./secrets";

/** Query of a check that names none. */
export const DEFAULT_QUERY = "SELECT 1";

const LONGEST_QUERY = 10_000;
const LONGEST_VALUE = 1_000;

/** Returns the parts that the probes of databases share. */
export function databaseParts(defaultPort: number) {
  const config = Type.Object(
    {
      host: HostText,
      port: portField(defaultPort),
      database: Type.Optional(
        LineText({ minLength: 1, maxLength: 255, description: "Default: that of the user." }),
      ),
      user: UserName,
      password: Type.Optional(Password),
      tls: TlsField,
      query: Type.Optional(
        Text({
          minLength: 1,
          maxLength: LONGEST_QUERY,
          description: `One statement, which can only read. It is a secret and is never returned. Default: ${DEFAULT_QUERY}.`,
        }),
      ),
      expected: Type.Optional(
        Text({
          maxLength: LONGEST_VALUE,
          description: "Text of the first value in the first row. Default: any.",
        }),
      ),
      ...TLS_FIELDS,
      certificate_warning_days: Type.Optional(WarningDays),
      allow_plain_password: Type.Optional(AllowPlainPassword),
    },
    { additionalProperties: false, examples: [{ host: "db.example.com", user: "monitor" }] },
  );
  type DatabaseConfig = Static<typeof config>;

  const completed = (stored: DatabaseConfig) => withPasswordDefaults(stored, defaultPort);
  const { secrets, withoutSecrets, merge, validateChange } = secretRules<DatabaseConfig>(
    { password: "text", query: "text" },
    usesByFields(config, ["password", "expected", "certificate_warning_days"], completed),
  );
  return {
    /** Returns a config with its defaults. */
    completed,
    parts: {
      config,
      shown: shownConfig(config, secrets),
      secrets,
      merge,
      validateChange,
      validate: validateHostField,
      present: (stored: DatabaseConfig) => withoutSecrets(completed(stored)),
      targetOf: ({ database, ...server }: DatabaseConfig) =>
        `${serverTarget(server, defaultPort)}${database === undefined ? "" : `/${database}`}`,
    },
  };
}

/** Config of a database. */
export type DatabaseConfig = Parameters<ReturnType<typeof databaseParts>["completed"]>[0];

/** Config of a database with its defaults. */
export type CompletedDatabaseConfig = ReturnType<ReturnType<typeof databaseParts>["completed"]>;
