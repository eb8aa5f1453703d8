import type { Reader } from "../db";
import { Problem } from "../errors";
import { type FindLink, operation } from "../http";

/** Circumstances of the use of a link, as the gateway knows them. */
type LinkUse = Parameters<FindLink>[1];

/**
 * Declares a route below `/mail` whose token `open` finds; it throws a Problem for any other token. Each token
 * has a bucket of its own.
 */
export function linkOperation(
  db: Reader,
  summary: string,
  open: (reader: Reader, token: string, use: LinkUse) => unknown,
  more: { description?: string; redirects?: boolean } = {},
) {
  return operation({
    tag: "E-mail",
    summary,
    access: {
      kind: "link",
      find(token, use) {
        try {
          open(db, token, use);
          return token;
        } catch (error) {
          if (error instanceof Problem) return error;
          throw error;
        }
      },
    },
    onCustomDomain: "shared",
    answers: more.redirects
      ? { 303: { description: "Redirects." } }
      : { 200: { description: more.description ?? "HTML." } },
  });
}
