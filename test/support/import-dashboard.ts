import { asUpload } from "./multipart";
import type { Answer, CallOptions, TestApp } from "./app";

export const IMPORTS = "/admin/settings/import";
export const HEALTHCHECKS = `${IMPORTS}/from/healthchecks`;

/** Returns the options of a call that submits the form for Healthchecks with an answer of it, or with no file. */
export function importFields(
  session: string,
  file: string | Uint8Array | undefined,
  fields: Readonly<Record<string, string>> = {},
): CallOptions {
  const parts = Object.entries({ source: "default", internal_page: "internal", ...fields }).map(
    ([name, text]) => ({ name, text }),
  );
  const type = "application/json";
  const upload = { name: "file", filename: file === undefined ? "" : "checks.json", type };
  return { session, ...asUpload([...parts, { ...upload, bytes: file ?? "" }]) };
}

/** Sends the form for importing from Healthchecks with an answer of it, or with no file. */
export function sendImport(
  app: TestApp,
  session: string,
  file: string | Uint8Array | undefined,
  fields: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return app.call(HEALTHCHECKS, importFields(session, file, fields));
}

/** Returns an answer of Healthchecks with these checks. */
export function answerOf(...checks: readonly unknown[]): string {
  return JSON.stringify({ checks });
}

/** Plans an import and returns the path of its plan. Throws if it was rejected. */
export async function planImport(
  app: TestApp,
  session: string,
  file: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { status, headers, text } = await sendImport(app, session, file, fields);
  if (status !== 303) throw new Error(text);
  return headers.get("location") ?? "";
}

/** Plans and imports, and returns the path of the report. */
export async function importChecks(
  app: TestApp,
  session: string,
  file: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<string> {
  const plan = await planImport(app, session, file, fields);
  await app.call(plan, { session, form: {} });
  return (await app.call(plan, { session })).headers.get("location") ?? "";
}
