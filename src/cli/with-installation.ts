import { type FieldError, Problem } from "../base/errors";
import { OperatorError } from "../db/errors";
import type { Reader } from "../db/statements";
import { findPageBySlug, type PageRow } from "../features/pages/store";
import { type Installation, openForCommand } from "../installation";
import { type Command, type ExitCode, type Invocation, UsageError } from "./command";

/**
 * Opens the data directory for a command, runs `work`, closes it in any case, and returns its exit code, 0 if it has
 * none. An error about fields is thrown as a UsageError about their flags.
 */
export async function withInstallation(
  command: Pick<Command, "name">,
  invocation: Invocation,
  access: { canCreate: boolean; fields?: FlagsOfFields },
  work: (installation: Installation) => Promise<ExitCode | void>,
): Promise<ExitCode> {
  const installation = openForCommand(invocation.config, command.name, access);
  try {
    return (await work(installation)) ?? 0;
  } catch (error) {
    throw asUsageError(error, access.fields ?? { flags: {} });
  } finally {
    installation.close();
  }
}

/**
 * Returns a page by its current or an earlier slug. Throws an OperatorError, also for the sample page: `why` ends the
 * sentence that says so.
 */
export function findRealPage(reader: Reader, slug: string, why: string): PageRow {
  const page = findPageBySlug(reader, { slug });
  if (!page) throw new OperatorError(`There is no page ${slug}.`);
  if (page.isSample) {
    throw new OperatorError(`${slug} is the sample page of a first start, ${why}.`);
  }
  return page;
}

/** Returns what `examine` returns. An error about fields is thrown as a UsageError about their flags. */
export function examineFlags<Value>(fields: FlagsOfFields, examine: () => Value): Value {
  try {
    return examine();
  } catch (error) {
    throw asUsageError(error, fields);
  }
}

function asUsageError(error: unknown, fields: FlagsOfFields): unknown {
  const isInvalid = error instanceof Problem && error.code === "validation_failed";
  return isInvalid ? wrongFlags(error.fields, fields) : error;
}

/** Flags for the fields of a schema. */
export interface FlagsOfFields {
  /** Flag with its dashes, by field. */
  flags: Readonly<Record<string, string>>;
  /** Values of fields that are lists, by field, so that an error names the wrong value. */
  listed?: Readonly<Record<string, readonly string[]>>;
}

/** Returns the errors of fields as errors of their flags. */
export function wrongFlags(
  fields: readonly FieldError[],
  { flags, listed = {} }: FlagsOfFields,
): UsageError {
  return new UsageError(
    fields.map(({ pointer, detail }) => {
      const [, field = "", index] = pointer.split("/");
      const value = index === undefined ? "" : ` ${listed[field]?.[Number(index)] || '""'}`;
      return `${flags[field] ?? field}${value} ${detail}.`;
    }),
  );
}
