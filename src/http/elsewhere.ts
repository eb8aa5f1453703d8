import type { Problem } from "../base/errors";
import type { BodyBudget } from "./body-budget";
import type { GatewayContext } from "./request-context";
import type { SplitUrl } from "./request-url";
import type { Match } from "./route-table";

/** Request whose route is known and whose caller is not. */
export interface MatchedRequest {
  context: GatewayContext;
  match: Match;
  url: SplitUrl;
  /** Reserves room for a body that is read before the request is sent on. */
  bodies: BodyBudget;
}

/**
 * Outcome of a request that is not answered at once: the answer of another node, an error, or the request that
 * this node answers, which differs from the original one if the body was read.
 */
export type ElsewhereOutcome = Response | Problem | Request;

/** Requests that another node answers. A process that is the only node has none. */
export interface Elsewhere {
  /** Returns an error, or the outcome to wait for; undefined for a request that this node answers at once. */
  answer(request: MatchedRequest): Problem | Promise<ElsewhereOutcome> | undefined;
  /**
   * Waits, once the caller is charged, until this node has what the request must show. Resolves to undefined then, else
   * to an error or the answer of another node. Returns undefined for a request that need not wait.
   */
  catchUp(request: MatchedRequest): Promise<Response | Problem | undefined> | undefined;
  /** Returns the time of the data that answers of this node show, as text; undefined if that is the newest or not known. */
  asOf?(): string | undefined;
}
