import { nullable } from "../../forms/field";
import { textField } from "../../forms/text-fields";
import { passwordField, secretTextField } from "../secret-texts";
import { certificateWarningField, hostField, portField, tlsField } from "./server-fields";
import type { TypeForm } from "./type-form";

/** Returns the form of a database. */
function databaseForm(name: string, port: number): TypeForm {
  return {
    sentence: `Signs in to a ${name} database and runs a query, and fails if the result is not as expected.`,
    fields: {
      host: hostField(),
      port: portField(port),
      database: nullable(
        textField({ label: "Database", hint: "Optional. Empty means that of the user." }),
      ),
      user: textField({
        label: "User name",
        hint: "Of a user that may only read what the query needs.",
        isRequired: true,
      }),
      password: passwordField(),
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
          hint: "Optional. Text of the first value in the first row.",
          maxlength: 1_000,
        }),
      ),
    },
    folds: { Query: ["query", "expected"] },
    advanced: { certificate_warning_days: certificateWarningField() },
  };
}

export const postgresForm = databaseForm("PostgreSQL", 5432);

export const mysqlForm = databaseForm("MySQL or MariaDB", 3306);
