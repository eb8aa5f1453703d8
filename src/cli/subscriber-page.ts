import { OperatorError } from "../db/errors";
import type { Reader } from "../db/statements";
import { findPageBySlug, type PageRow } from "../features/pages/store";
import { type Invocation, UsageError } from "./command";
import type { FlagsOfFields } from "./with-installation";

/** Names of arguments and flags for the fields of the services. */
export const SUBSCRIBER_FIELDS: FlagsOfFields = {
  flags: { file: "FILE", consent: "--consent", email: "EMAIL" },
};

/** Returns the page that `--page` names; undefined without it. Throws an OperatorError. */
export function pageOf(reader: Reader, { value }: Invocation): PageRow | undefined {
  const slug = value("page");
  return slug === undefined ? undefined : findRealPage(reader, slug);
}

/** Returns the page that the required flag `--page` names. */
export function requiredPage(reader: Reader, { value }: Invocation): PageRow {
  return findRealPage(reader, value("page") ?? "");
}

/** Throws a UsageError if a status or another choice is none of those possible. */
export function oneOf<T extends string>(flag: string, text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (found === undefined) throw new UsageError([`--${flag} must be one of ${values.join(", ")}.`]);
  return found;
}

function findRealPage(reader: Reader, slug: string): PageRow {
  const page = findPageBySlug(reader, { slug });
  if (!page) throw new OperatorError(`There is no page ${slug}.`);
  if (page.isSample) {
    throw new OperatorError(`${slug} is the sample page of a first start, without subscribers.`);
  }
  return page;
}
