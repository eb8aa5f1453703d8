/**
 * The front door and what every route shares: how a route is declared, who is let in and who pays,
 * how answers, lists, entity tags and problems are written. Knows the capabilities of keys, sessions
 * and limits; of pages and components only what the OpenAPI document says of its tags.
 */
export {
  type RequestContext,
  actorOf,
  type RequestContexts,
  bearerOf,
  createRequestContexts,
  monitorIdOf,
  sessionOf,
} from "./request-context";
export {
  seeOther,
  type SentPage,
  sendHtml,
  sendList,
  sendResource,
  sendUntagged,
  sendWithVersionTag,
} from "./answers";
export { beginningOf } from "./beginning-body";
export { SIGN_IN_PATH } from "./authorisation";
export { RUNTIME_BODY_MAX_BYTES } from "./body";
export { type ClientAddresses, createClientAddresses } from "./client-address";
export { createOnce, type Made } from "./create-once";
export { createGateway, type Gateway, type GatewayDependencies } from "./gateway";
export { requireMatch } from "./etag";
export { type Form, formBody } from "./form-body";
export { jsonBody, noBody, optionalJsonBody } from "./json-body";
export { type Access, ANY_KEY, type Operation, operation, scope, session } from "./operation";
export {
  listAddress,
  ListOf,
  type Page,
  type PageRequest,
  PageQuery,
  readPageRequest,
  toPage,
} from "./pagination";
export { buildOpenApi } from "./openapi/document";
export { errorsOf } from "./openapi/errors";
export { toProblem } from "./problems";
export { IMMUTABLE, NO_STORE, PUBLIC_CACHE, Representation, representOnce } from "./representation";
export { endedSessionCookie, findCurrentSession, sessionCookie } from "./session-cookie";
export { createRouteTable, type Route, type RouteTable } from "./route-table";
export type { GatewayContext } from "./visit";
