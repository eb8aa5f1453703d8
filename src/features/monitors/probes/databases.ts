import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../../base/schema";
import { LineText } from "../../../base/texts";
import { CheckFailure } from "./conversation";
import { Secret, shownSchema, withoutSecrets } from "../../../base/secrets";
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
import { secretRules, usesByFields } from "./secret-uses";

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
        Secret({
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
  const rules = secretRules<DatabaseConfig>(
    config,
    usesByFields(config, ["password", "expected", "certificate_warning_days"], completed),
  );
  return {
    /** Returns a config with its defaults. */
    completed,
    parts: {
      config,
      shown: shownSchema(config),
      ...rules,
      validate: validateHostField,
      present: (stored: DatabaseConfig) => withoutSecrets(config, completed(stored)),
      targetOf: ({ database, ...server }: DatabaseConfig) =>
        `${serverTarget(server, defaultPort)}${database === undefined ? "" : `/${database}`}`,
    },
  };
}

/** Config of a database. */
export type DatabaseConfig = Parameters<ReturnType<typeof databaseParts>["completed"]>[0];

/** Config of a database with its defaults. */
export type CompletedDatabaseConfig = ReturnType<ReturnType<typeof databaseParts>["completed"]>;

/** Throws a failure unless the first value of a row is as expected. Messages never repeat it. */
export function compareValue(row: readonly unknown[] | undefined, expected?: string): void {
  if (expected === undefined) return;
  if (!row) throw new CheckFailure("The query returned no row.");
  if (row[0] !== expected) throw new CheckFailure("The result is not as expected.");
}
