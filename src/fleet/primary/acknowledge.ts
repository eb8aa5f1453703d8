import type { Acknowledge } from "../../app";
import type { Db } from "../../db/database";
import { formatTxid } from "../../db/followed-database";
import type { RequestContext } from "../../http/request-context";
import type { Uploaded } from "./acknowledgement";

/** Header of an answer to a write that is on one machine only. */
export const DURABILITY_HEADER = "Allclear-Durability";

/** Header of an answer to a write that is in the store: a transaction that contains it. */
export const TXID_HEADER = "Allclear-Txid";

/** Paths whose writes never wait: they begin and end sessions. */
const SESSION_PATHS: ReadonlySet<string> = new Set(["/admin/sign-in", "/admin/sign-out"]);

/**
 * Creates the function that holds an answer back until `wait` resolves, if its request has changed something, or
 * repeats the answer to a change, which is read in a transaction. Other answers, refused requests and the results of
 * checks do not wait.
 */
export function createAcknowledge(
  db: Pick<Db, "changes">,
  wait: () => Promise<Uploaded>,
): Acknowledge {
  return (requestContext, { method }, answer) => {
    const isRead = method === "GET" || method === "HEAD";
    if (isRead || !requestContext || neverWaits(requestContext)) return answer;
    // The handler has begun, but no change is committed before the next turn of the event loop.
    const before = db.changes;
    return (async () => {
      const response = await answer;
      const isRefused = response.status >= 400 || requestContext.failure !== undefined;
      if (isRefused || db.changes === before) return response;
      const txid = await wait();
      if (txid === undefined) response.headers.set(DURABILITY_HEADER, "local");
      else response.headers.set(TXID_HEADER, formatTxid(txid));
      return response;
    })();
  };
}

function neverWaits({ caller, route }: RequestContext): boolean {
  return caller.kind === "job" || SESSION_PATHS.has(route?.path ?? "");
}
