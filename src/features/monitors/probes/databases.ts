import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../../base/schema";
import { LineText } from "../../../base/texts";
import { CheckFailure, type Conversation } from "./conversation";
import { Secret } from "../../../base/secrets";
import {
  HostText,
  Password,
  portField,
  serverTarget,
  SIGN_IN_FIELDS,
  TlsField,
  UserName,
  validateHostField,
  withPasswordDefaults,
} from "./fields";
import { partsWithSecrets, usesByFields } from "./secret-uses";

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
      ...SIGN_IN_FIELDS,
    },
    { additionalProperties: false, examples: [{ host: "db.example.com", user: "monitor" }] },
  );
  type DatabaseConfig = Static<typeof config>;

  const completed = (stored: DatabaseConfig) => withPasswordDefaults(stored, defaultPort);
  return {
    /** Returns a config with its defaults. */
    completed,
    parts: {
      ...partsWithSecrets<DatabaseConfig>(
        config,
        completed,
        usesByFields(config, ["password", "expected", "certificate_warning_days"], completed),
      ),
      validate: validateHostField,
      targetOf: ({ database, ...server }: DatabaseConfig) =>
        `${serverTarget(server, defaultPort)}${database === undefined ? "" : `/${database}`}`,
    },
  };
}

/** Config of a database. */
export type DatabaseConfig = Parameters<ReturnType<typeof databaseParts>["completed"]>[0];

/** Config of a database with its defaults. */
export type CompletedDatabaseConfig = ReturnType<ReturnType<typeof databaseParts>["completed"]>;

/** Rejection of a request for the password in clear text, by a server that may be any. */
export const CLEAR_TEXT_REFUSED =
  "The server asks for the password in clear text, which is sent only over verified TLS, or with allow_plain_password.";

/** Throws a failure unless the first value of a row is as expected. Messages never repeat it. */
export function compareValue(
  conversation: Conversation,
  row: readonly unknown[] | undefined,
  expected: string | undefined,
): void {
  if (expected === undefined) return;
  conversation.begin("comparing the value", "assertion");
  if (!row) throw new CheckFailure("The query returned no row.");
  if (row[0] !== expected) throw new CheckFailure("The result is not as expected.");
}
