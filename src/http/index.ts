/**
 * The gateway and the shared parts of routes: declarations, bodies, credentials, rate limits, answers,
 * lists, entity tags, problems and the OpenAPI document.
 */
export {
  actorOf,
  bearerOf,
  type GatewayContext,
  type RequestContext,
  sessionOf,
  type StoredContexts,
  storeContexts,
  findTokenOwner,
  isFromOutside,
  tokenOwnerOf,
} from "./request-context";
export {
  movedTo,
  seeOther,
  type SentPage,
  sendHtml,
  sendList,
  sendResource,
  sendPlainText,
  sendUntagged,
  sendWithVersionTag,
} from "./answers";
export { hostOf, SIGN_IN_PATH } from "./authorisation";
export { createCredentials } from "./credentials";
export { beginningOf, readBeginning, readBytes, RUNTIME_BODY_MAX_BYTES } from "./body";
export { BODY_MAX_BYTES, bodyLengthProblem, type DeclaredBody, hasBody } from "./declared-body";
export type { Elsewhere, ElsewhereOutcome, MatchedRequest } from "./elsewhere";
export { type ClientAddresses, createClientAddresses } from "./client-address";
export { createChanges } from "./change";
export { createOnce } from "./create-once";
export { rateLimited } from "./gateway-answers";
export { createGateway, type Gateway, type GatewayDependencies } from "./gateway";
export { type Form, formBody, sentFormOf } from "./form-body";
export { jsonBody, noBody, optionalJsonBody } from "./json-body";
export { jsonOrRawBody } from "./raw-body";
export { acceptsHtml, KEPT_FORM_MAX_BYTES } from "./refused-form";
export { isLiveRefresh, sendLive } from "./live-refresh";
export {
  ANY_KEY,
  answersPrograms,
  type FindLink,
  type Operation,
  operation,
  scope,
  session,
} from "./operation";
export { listAddress, ListOf, PageQuery, readPageRequest, toPage } from "./pagination";
export { toProblem, unlessUnavailable } from "./problems";
export { createElysia, createRequestContexts, type RequestContexts } from "./elysia";
export { createBearerReader } from "./bearer";
export {
  createCdn,
  IMMUTABLE,
  PUBLIC_CACHE,
  RESULTS_CACHE,
  TAG_OF_ALL,
  tagOfPage,
  WIDGET_CACHE,
} from "./cdn";
export { NO_STORE, Representation, representOnce } from "./representation";
export {
  endedSessionCookie,
  findCurrentSession,
  findSessionOwner,
  hasSessionCookie,
  sessionCookie,
} from "./session-cookie";
export { readTheme, type Theme, themeCookie, themeOf, THEMES } from "./theme-cookie";
export {
  createRouteTable,
  type Handle,
  type PlainRoute,
  type Route,
  type RouteTable,
} from "./route-table";
export { queryOf, segmentsOf, splitUrl } from "./request-url";
