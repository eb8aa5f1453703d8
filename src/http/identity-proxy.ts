/*
 * Users of the dashboard whom a proxy in front of it names in headers: the peers whose headers are read, and the session
 * that begins, goes on or ends with such a request.
 */
import { timingSafeEqual } from "node:crypto";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import { userActor } from "../base/actor";
import { parseClientAddress } from "../base/client-address";
import { identityHeaders, PROXY_SECRET_HEADER } from "../base/config/identity-proxy";
import { formatNetwork, isInNetworks } from "../base/config/parse";
import { Problem } from "../base/errors";
import { sha256 } from "../base/hash";
import { lazy } from "../base/lazy";
import { hasUnsafeCharacters } from "../base/text";
import { HOUR_MS, MINUTE_MS } from "../base/time";
import type { Ctx } from "../context";
import type { LiveSession, Sessions } from "../features/auth/sessions";
import {
  signInPerson,
  findSignInOutcome,
  type Person,
  personOfProxy,
  type Rejection,
  REJECTIONS,
} from "../features/users/identities";
import { PROXY_ISSUER } from "../features/users/rules";
import { endOneSession } from "../features/users/sign-in";
import { findIdentity, findIdentityById } from "../features/users/store";
import { acceptsHtml } from "./answers";
import {
  type IdentityHeaders,
  type IgnoredIdentities,
  isSafeMethod,
  signInRequired,
} from "./caller";
import { findSessionOwner } from "./cookies";
import type { RequestContext } from "./request-context";
import { isOwnHost } from "./visitor";

/** Interval of warnings about headers that are ignored for the same reason. */
const WARNING_MS = MINUTE_MS;

/** Warnings about ignored headers, by reason. */
const WARNINGS: Readonly<Record<keyof IgnoredIdentities, string>> = {
  peer: "the identity headers of a request were ignored: its peer is not in ALLCLEAR_IDENTITY_PROXY",
  secret:
    "the identity headers of a request were ignored: the proxy did not send the header Allclear-Proxy-Secret, or a wrong one; one without a secret must keep the host, which must be the public address",
};

/** Time for which a client without cookies gets the same session again, and number of such clients. */
const BEGUN_MS = HOUR_MS;
const BEGUN_MAX = 1_000;

/** Limit of a name and an e-mail, in UTF-16 units. */
const TEXT_MAX = 255;

export function createIdentityHeaders(ctx: Ctx, sessions: Sessions): IdentityHeaders {
  const { clock, config, db, log } = ctx;
  const networks = config.identityProxy;
  const names = identityHeaders(config);
  const groupsHeader = config.identityProxyGroupsHeader?.toLowerCase();
  /** Headers with one value. The runtime joins repeated ones by commas. */
  const singleNames = names.filter((name) => name !== groupsHeader);
  const ignored: IgnoredIdentities = { peer: 0, secret: 0 };
  const warnedAt = new Map<keyof IgnoredIdentities, number>();
  /** Sessions that began last, by their client; `until` is monotonic, in ms. */
  const begun = lazy(
    () => new LRUCache<string, { token: string; until: number }>({ max: BEGUN_MAX }),
  );

  function ignore(reason: keyof IgnoredIdentities, { peer, requestId }: RequestContext): void {
    ignored[reason] += 1;
    const now = clock.monotonic();
    if (now - (warnedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < WARNING_MS) return;
    warnedAt.set(reason, now);
    log.warn({ peer, request: requestId }, WARNINGS[reason]);
  }

  function hasSecret(context: RequestContext, peer: ReturnType<typeof ipaddr.parse>): boolean {
    const needsNone = config.identityProxyNoSecret === "on" && peer.range() === "loopback";
    // A browser on this machine sends any headers to a name that its site points here.
    if (needsNone && isOwnHost(ctx, context)) return true;
    const given = context.request.headers.get(PROXY_SECRET_HEADER);
    const { identityProxySecret: secret } = config;
    if (given === null || secret === undefined) return false;
    return timingSafeEqual(sha256(given), sha256(secret));
  }

  function isOfProxy({ identityId }: LiveSession): boolean {
    if (identityId === null) return false;
    return findIdentityById(db, { id: identityId })?.issuer === PROXY_ISSUER;
  }

  async function end(
    { address }: RequestContext,
    { id, user }: LiveSession,
    problem: Problem,
  ): Promise<Problem> {
    const actor = userActor(user, address.ip);
    await db.write((tx) => endOneSession(ctx, tx, user.id, id, actor));
    return problem;
  }

  function originOf({ request, address }: RequestContext) {
    return { ip: address.ip, userAgent: request.headers.get("user-agent") ?? "" };
  }

  /**
   * Gives a client that keeps no cookies the session of a person that it began within the hour, and returns true: new
   * ones would end the user's other sessions, of which there are 50 at most. Returns false without such a session.
   */
  function resume(context: RequestContext, person: Person): boolean {
    const { token = "", until = 0 } = begun().get(clientOf(person, originOf(context))) ?? {};
    // It has ended if the user signed out, was disabled, or was disconnected.
    if (clock.monotonic() >= until || !sessions.find(token, clock.now())) return false;
    context.begunSession = token;
    return true;
  }

  /** Starts the session of a person. */
  async function begin(
    context: RequestContext,
    person: Person,
    replaced: LiveSession | undefined,
  ): Promise<Problem | undefined> {
    const origin = originOf(context);
    const signedIn = await db.write((tx) => signInPerson(ctx, tx, person, { origin, replaced }));
    if ("rejection" in signedIn) return refuse(context, person, signedIn.rejection);
    const until = clock.monotonic() + BEGUN_MS;
    begun().set(clientOf(person, origin), { token: signedIn.sessionToken, until });
    context.begunSession = signedIn.sessionToken;
    return undefined;
  }

  function refuse(
    { requestId, address }: RequestContext,
    { subject }: Person,
    rejection: Rejection,
  ): Problem {
    const facts = { request: requestId, ip: address.ip, name: subject, ...REJECTIONS[rejection] };
    log.info(facts, "a user whom the identity proxy names was not let in");
    return signInRequired(
      `The proxy in front of this server names you as ${subject}, and no account here is open to you. Nothing was changed.`,
    );
  }

  return {
    read(context) {
      if (networks.length === 0) return undefined;
      const { headers } = context.request;
      if (!names.some((name) => headers.has(name))) return undefined;
      const ip = parseClientAddress(context.peer ?? "")?.ip;
      const peer = ip === undefined ? undefined : ipaddr.parse(ip);
      if (!peer || !isInNetworks(peer, networks)) {
        ignore("peer", context);
        return undefined;
      }
      const repeated = singleNames.find((name) => headers.get(name)?.includes(","));
      if (repeated !== undefined) throw unreadable(repeated, "contains a comma or was sent twice");
      if (!hasSecret(context, peer)) {
        ignore("secret", context);
        return undefined;
      }
      const name = readText(headers, config.identityProxyHeader);
      if (name === undefined) return undefined;
      const groups = readText(headers, groupsHeader, Number.POSITIVE_INFINITY) ?? "";
      return {
        name,
        email: readText(headers, config.identityProxyEmailHeader),
        groups: groups
          .split(",")
          .map((group) => group.trim())
          .filter((group) => group !== ""),
      };
    },

    reconcile(context, session) {
      const { proxyUser, request } = context;
      if (!proxyUser) {
        if (!session || !isOfProxy(session)) return undefined;
        return () => end(context, session, signInRequired());
      }
      const identity = findIdentity(db, { issuer: PROXY_ISSUER, subject: proxyUser.name });
      if (session && identity && session.identityId === identity.id) return undefined;
      const person = personOfProxy(proxyUser, config);
      const outcome = findSignInOutcome(ctx, db, person);
      if ("rejection" in outcome) {
        // A session that began otherwise does not depend on the proxy. Its user may want to connect the two.
        if (session && !isOfProxy(session)) return undefined;
        const problem = refuse(context, person, outcome.rejection);
        return session ? () => end(context, session, problem) : problem;
      }
      // Rejects a form that another user opened.
      const isForm = !isSafeMethod(request);
      const owner = session?.user.id ?? findSessionOwner(ctx, sessions, request);
      const userId = "user" in outcome ? outcome.user.id : undefined;
      if (isForm && owner !== undefined && owner !== userId) {
        const problem = signInRequired();
        return session ? () => end(context, session, problem) : problem;
      }
      const isResumed = !session && resume(context, person);
      const step = isResumed ? undefined : () => begin(context, person, session);
      // Without a trace of the session, a form may be anyone's. The user sees it again before it takes effect.
      if (!isForm || owner !== undefined || !acceptsHtml(request)) return step;
      return step ? async () => (await step()) ?? signInRequired() : signInRequired();
    },

    ignored: () => ignored,
  };
}

/** Returns the name of a client in the map of sessions that began. */
function clientOf({ subject }: Person, { ip, userAgent }: { ip: string; userAgent: string }) {
  return JSON.stringify([subject, ip, userAgent]);
}

/**
 * Returns the text of a header; undefined if it is missing or empty. Throws a Problem for text that is too long, not UTF-8,
 * or has control characters.
 */
function readText(
  headers: Headers,
  name: string | undefined,
  maxLength = TEXT_MAX,
): string | undefined {
  const value = name === undefined ? null : headers.get(name);
  if (name === undefined || value === null || value === "") return undefined;
  // The runtime reads each byte of a header as one character.
  const bytes = Buffer.from(value, "latin1");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(name, "is not UTF-8");
  }
  if (text.length > maxLength) throw unreadable(name, `has more than ${maxLength} characters`);
  if (hasUnsafeCharacters(text)) throw unreadable(name, "contains control characters");
  return text;
}

function unreadable(header: string, what: string): Problem {
  return new Problem(
    "invalid_request",
    `The header ${header} ${what}, so no user could be read from it. The proxy in front of this server must overwrite it.`,
  );
}

/** Logs at the start which headers are read, since a proxy that passes those of clients on lets anyone in. */
export function announceIdentityProxy({ config, log }: Ctx): void {
  const networks = config.identityProxy.map(formatNetwork);
  const groups = config.identityProxyGroupsHeader ?? "off";
  log.warn(
    { networks, headers: identityHeaders(config), groups },
    "a proxy names the users of the dashboard: it must overwrite these headers in every request, also those that it leaves empty, or its clients can be anyone",
  );
}
