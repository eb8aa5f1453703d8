import { nullable } from "../../../ui/forms/form";
import { textField } from "../../../ui/forms/fields";
import { passwordField, secretTextField } from "../secret-texts";
import {
  certificateWarningField,
  hostField,
  plainPasswordField,
  portField,
  tlsField,
  tlsRulesFields,
} from "./server-fields";
import type { TypeForm } from "./type-form";

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

export const postgresForm = databaseForm({
  name: "PostgreSQL",
  port: 5432,
  empty: "Empty means the database with the name of the user.",
  trueText: "t",
});

export const mysqlForm = databaseForm({
  name: "MySQL or MariaDB",
  port: 3306,
  empty: "Empty means none.",
  trueText: "1",
});
