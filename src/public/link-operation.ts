import type { Reader } from "../db/statements";
import { Problem } from "../base/errors";
import { type FindLink, type Operation, operation } from "../http/operation";
import { HTML_ANSWER } from "./answers";

/** Circumstances of the use of a link, as the gateway knows them. */
type LinkRoute = Parameters<FindLink>[1];

/**
 * Declares a route below `/mail` whose token `open` finds; it throws a Problem for any other token. Each token
 * has a bucket of its own.
 */
export function linkOperation(
  db: Reader,
  { id, summary }: { id: string; summary: string },
  open: (reader: Reader, token: string, use: LinkRoute) => unknown,
  more: Pick<Operation, "form"> & { answers?: Operation["answers"] } = {},
) {
  return operation({
    id,
    tag: "E-mail",
    summary,
    description:
      "A link in a mail, whose token is the credential. Reading changes nothing, since programs that check mails follow all links.",
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
    answers: { 200: HTML_ANSWER },
    ...more,
  });
}
