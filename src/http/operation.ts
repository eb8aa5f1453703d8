import type { TObject, TProperties, TSchema } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import type { Role } from "../base/actor";
import type { ClientAddress } from "../base/client-address";
import type { ErrorCode, Problem } from "../base/errors";
import type { Scope } from "../features/keys/scopes";
import type { ImportedToken } from "../features/monitors/tokens";
import type { DomainPage } from "../features/pages/addresses";

/**
 * Callers of a route, who are also charged for it.
 * - `key`: a live API key with all of the scopes. `takesBasic`: also as the password of Basic authentication.
 *   `takesAlerts`: it is charged as a sender of alerts.
 * - `session`: a signed-in user with at least the role. `isOpenToSetUp`: also one who must set up a second factor first.
 * - `public`: anyone.
 * - `heartbeat`: a job with its heartbeat token, as the `:token` of the path or as a bearer token.
 * - `imported-heartbeat`: a job with a token of another product, or anyone, whom the handler answers as that product does.
 * - `location`: the agent of a location, with its token as a bearer token.
 * - `link`: a person with a link from a mail, by the `:token` of the path. The origin of a form is not checked.
 * - `reporter`: a program with the installation's token for reports about mails.
 * - `health`: health checkers, with a bucket of their own.
 * - `file`: anyone, for content that is the same for everyone. It is charged only if it is missing.
 */
export type Access =
  | { kind: "key"; scopes: readonly Scope[]; takesBasic?: true; takesAlerts?: true }
  | { kind: "session"; role: Role; isOpenToSetUp?: true }
  | { kind: "public" }
  | { kind: "heartbeat" }
  | {
      kind: "imported-heartbeat";
      tokensOf(request: Request): readonly ImportedToken[];
      /** True if the token is a bearer token; by default it is in the path. */
      isBearer?: true;
    }
  | { kind: "location" }
  | { kind: "link"; find: FindLink }
  | { kind: "reporter"; isToken(token: string): boolean }
  | { kind: "health" }
  | { kind: "file" };

/**
 * Returns the name of the bucket of a right token; for any other a Problem. `domain` is the page whose custom
 * domain the request was sent to, `now` unix ms.
 */
export type FindLink = (
  token: string,
  at: { domain: DomainPage | undefined; now: number },
) => string | Problem;

/** Requires any live API key. */
export const ANY_KEY: Access = { kind: "key", scopes: [] };

/** Requires a live API key with this scope. */
export function scope(name: Scope): Access {
  return { kind: "key", scopes: [name] };
}

/** Requires a user who is signed in to the dashboard and has at least this role. */
export function session(role: Role): Access {
  return { kind: "session", role };
}

/** Requires a signed-in user, also one who must set up a second factor first. */
export const SECOND_FACTOR_SET_UP: Access = {
  kind: "session",
  role: "viewer",
  isOpenToSetUp: true,
};

/** An answer of the handler in the documentation. */
interface Answer {
  description: string;
  /** Schema of its body. A page has none, only its media type. */
  schema?: TSchema;
  /** `application/json` if omitted. */
  mediaType?: string;
  /** Descriptions of further headers by name. */
  headers?: Readonly<Record<string, string>>;
  /** Further media types that the Accept header can select. */
  alsoAs?: readonly string[];
}

/**
 * Declaration of a route in addition to its schemas. The gateway authorises by it and the OpenAPI document
 * is made from it. The server does not start with a route that has none.
 */
export interface Operation {
  /** The OpenAPI operationId; undefined keeps the route out of the document. */
  id?: string;
  summary: string;
  description?: string;
  tag: string;
  access: Access;
  /** Schemas of parameters in the path, in addition to those that every route has. */
  path?: TProperties;
  /** Query parameters that the handler reads by itself and never rejects; others are the option `query` of the route. */
  query?: TObject;
  /** Fields of the form that the handler reads by itself. */
  form?: TObject;
  answers: Record<number, Answer>;
  /** Errors in addition to those that follow from its access and its schemas. */
  errors?: readonly ErrorCode[];
  /** `etag`: answers have one, and If-None-Match is supported. `if-match`: changes support If-Match too. */
  conditional?: "etag" | "if-match";
  /**
   * True if Idempotency-Key is supported, as for every POST of the API that creates an object. See
   * `createOnce`.
   */
  idempotent?: true;
  /**
   * Answers a request before its body is read, once room for the body was reserved; undefined to continue.
   * For rejections that must be cheap under load. `domain` is the page whose custom domain the request was sent to.
   */
  beforeBody?: (
    request: Request,
    address: ClientAddress,
    domain: DomainPage | undefined,
  ) => Response | undefined;
  /**
   * True for a form that can be shown again as it was typed. If its session has ended, its fields are kept
   * while the user signs in.
   */
  keepsTyped?: true;
  /** True if browsers of other origins may read it: public JSON, feeds and badges. */
  isCrossOrigin?: boolean;
  /**
   * Set for routes that also answer on custom domains: those of one page, and files shared by all
   * pages. See `matchCustomDomain`.
   */
  onCustomDomain?: "page" | "shared";
  /** True if all answers are those of a private page. See `seal`. */
  isSealed?: true;
  /**
   * Returns true if the body of a request asks for a change. For a POST that otherwise only reads: a replica answers
   * reads itself.
   */
  changes?: (body: Uint8Array) => boolean;
  /** True if only the primary of a fleet knows the answer, such as whether a form can be sent. */
  isOfPrimary?: true;
}

/** A route as it is declared, apart from what it runs. */
export interface DeclaredRoute {
  /** Position among the declared routes. */
  index: number;
  method: string;
  /** The pattern, such as `/api/v1/status/:slug`. */
  path: string;
  operation: Operation;
  query: TSchema | undefined;
}

/** Declares a route: spread into the options of `.get(path, handler, {...operation({…})})`. */
export function operation(declared: Operation): { detail: DocumentDecoration } {
  // Elysia keeps `detail` unchanged with the route; its type lists only the fields of OpenAPI.
  return { detail: { operation: declared } as never };
}

/** Returns true if a route has an answer in JSON or for another program, not only pages. */
export function answersPrograms({ answers }: Operation): boolean {
  return Object.values(answers).some(({ schema }) => schema !== undefined);
}

/** Returns the declaration of a route; undefined without one. */
export function operationOf(route: { hooks: unknown }): Operation | undefined {
  const { detail } = route.hooks as { detail?: { operation?: Operation } };
  return detail?.operation;
}
