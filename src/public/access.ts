/*
 * Ways into a private page: the form for its password, and links with a token. Both lead on to the page with a cookie,
 * the grant; documents for programs, which keep no cookies, are also sent below a link.
 */
import { Type } from "@sinclair/typebox";
import { type ClientAddress, siteOf } from "../base/client-address";
import { notFound, Problem } from "../base/errors";
import type { Ctx } from "../context";
import { createPasswords, type Passwords } from "../features/auth/passwords";
import { createLoginThrottle } from "../features/auth/throttle";
import type { DomainPage } from "../features/pages/addresses";
import { findPagePassword } from "../features/pages/access-store";
import { findPageBySlug, type PageRow } from "../features/pages/store";
import { GRANT_DAYS, type Visits } from "../features/pages/visits";
import type { Snapshots } from "../features/status/snapshots";
import { movedTo, seeOther } from "../http/answers";
import { declareRoutes } from "../http/elysia";
import { type Form, formBody } from "../http/form-body";
import { grantCookie } from "../http/visitor";
import { answersPrograms, operation } from "../http/operation";
import { NO_STORE } from "../http/representation";
import { type RequestContext, segmentsOf, splitUrl } from "../http/request-context";
import type { RouteTable } from "../http/route-table";
import { languageOfRequest } from "./chosen-language";
import {
  accessPath,
  createPasswordPages,
  HOME_ACCESS_PATH,
  NEXT_MAX_LENGTH,
} from "./password-page";
import { HTML_ANSWER } from "./site";

interface Dependencies {
  snapshots: Snapshots;
  visits: Visits;
  /** Table of all routes, among which are those below a link. */
  routes: RouteTable;
  /** Verifies the passwords of pages; with real hashes if omitted. */
  visitorPasswords: Passwords | undefined;
}

const PAGE = {
  tag: "Pages",
  access: { kind: "public" },
  onCustomDomain: "page",
  isSealed: true,
  // Only the primary notes the use of a link.
  isOfPrimary: true,
  errors: ["not_found"],
} as const;

const TO_PAGE = { Location: "Path of the page.", "Set-Cookie": "The grant for this page." };

/** Routes `/access`, `/status/{slug}/access` and `/status/{slug}/with/{token}`. */
export function accessRoutes(ctx: Ctx, deps: Dependencies) {
  const form = createPasswordForm(ctx, deps);
  const openLink = createLinkOpener(ctx, deps);
  const declared = {
    ...PAGE,
    summary: "Open a private page by its password",
    description: `The form of the page. The grant lasts ${GRANT_DAYS} days, or until the password changes.`,
    form: Type.Object({
      password: Type.String(),
      next: Type.Optional(Type.String({ description: "Path of the page to open." })),
    }),
    answers: {
      303: { description: "The password is right.", headers: TO_PAGE },
      422: { ...HTML_ANSWER, description: "The form again: the password is wrong." },
      429: { ...HTML_ANSWER, description: "The form again, after too many attempts." },
    },
    beforeBody: form.rejectThrottled,
  } as const;
  return declareRoutes()
    .post("/access", form.answer, {
      ...formBody(),
      ...operation({
        ...declared,
        id: "openHomeByPassword",
        summary: "Open the page at / by its password",
      }),
    })
    .post("/status/:slug/access", form.answer, {
      ...formBody(),
      ...operation({ ...declared, id: "openPageByPassword" }),
    })
    .get(
      "/status/:slug/with/:token",
      openLink,
      operation({
        ...PAGE,
        id: "openPageByLink",
        summary: "Open a private page by a link",
        description:
          "All paths of the page can follow. Those of feeds, calendar, badges and JSON answer at once, with addresses that contain the link.",
        answers: { 303: { description: "The link is right.", headers: TO_PAGE } },
      }),
    )
    .get(
      "/status/:slug/with/:token/*",
      openLink,
      operation({
        ...PAGE,
        summary: "Open a part of a private page by a link",
        answers: { 200: { description: "A document." }, 303: { description: "Redirects." } },
      }),
    );
}

/** A request with the form. */
interface FormCall {
  /** Without a slug for the page at `/`. */
  params: { slug?: string };
  body: Form;
  request: Request;
  requestContext: RequestContext;
}

/** A page with a password, as a form was sent to it. */
interface AskedPage extends PageRow {
  passwordId: string;
  /** Path to which the form is sent, and the one that it was shown for. */
  action: string;
  home: string;
}

/** Creates the answers to the form for the password of a page. Attempts are counted by page and address. */
function createPasswordForm(ctx: Ctx, { snapshots, visits, visitorPasswords }: Dependencies) {
  const passwordPage = createPasswordPages();
  // One verification at a time, in a queue apart from that of users, whose sign-ins visitors must not delay.
  const passwords = visitorPasswords ?? createPasswords(Bun.password.verify, 1);
  const throttle = createLoginThrottle(ctx);

  /**
   * Returns the page of a slug in the path, or else the one at `/`. Throws `not_found` unless it has a password, whose
   * form is also sent to a page that has become public meanwhile.
   */
  function getPage(slug: string | undefined, domain: DomainPage | undefined): AskedPage {
    const known = slug ?? (domain ?? snapshots.defaultPage())?.slug;
    const page = known === undefined ? undefined : findPageBySlug(ctx.db, { slug: known });
    if (page?.passwordId == null) throw notFound("status page");
    const { passwordId } = page;
    return slug === undefined
      ? { ...page, passwordId, action: HOME_ACCESS_PATH, home: "/" }
      : { ...page, passwordId, action: accessPath(slug), home: `/status/${slug}` };
  }

  function rejectThrottled(
    request: Request,
    address: ClientAddress,
    domain: DomainPage | undefined,
  ): Response | undefined {
    const [first, slug] = segmentsOf(request);
    const page = getPage(first === "status" ? slug : undefined, domain);
    const visitor = visitorOf(page, address);
    const seconds = throttle.takeAttempt(visitor);
    if (seconds > 0) return askToWait(request, page, { next: page.home, address }, seconds);
    passwords.requirePlace(throttle.turnOf(visitor));
    return undefined;
  }

  function askToWait(
    request: Request,
    page: AskedPage,
    asked: AskedPath,
    seconds: number,
  ): Response {
    const headers = { "Retry-After": String(seconds) };
    const error = { key: "private.wait", seconds } as const;
    return passwordPage(request, { ...formOf(page, asked), error }, { status: 429, headers });
  }

  async function answer({ params, body, request, requestContext }: FormCall): Promise<Response> {
    const page = getPage(params.slug, requestContext.domain);
    const next = nextOf(page, body.text("next"));
    if (page.visibility === "public") return seeOther(next);
    const { address } = requestContext;
    const asked = { next, address };
    const visitor = visitorOf(page, address);
    const account = siteOf(visitor);
    const wait = throttle.accountWaitSeconds(account, visitor);
    if (wait > 0) return askToWait(request, page, asked, wait);
    const hash = findPagePassword(ctx.db, { pageId: page.id })?.hash;
    let isRight: boolean;
    try {
      isRight = await passwords.verify(body.text("password"), hash, throttle.turnOf(visitor));
    } catch (error) {
      const isBusy = error instanceof Problem && error.code === "rate_limited";
      if (isBusy) return askToWait(request, page, asked, 1);
      throw error;
    }
    if (!isRight) {
      throttle.failed(account, visitor);
      ctx.log.info({ page: page.id, ip: address.ip }, "the password of a page was wrong");
      const error = { key: "private.wrong" } as const;
      return passwordPage(request, { ...formOf(page, asked), error }, { status: 422 });
    }
    throttle.succeeded(account, visitor);
    // The grant names the password that was verified, so it has no effect if the password was changed meanwhile.
    const grant = visits.grant(page, page.passwordId, ctx.clock.now());
    return seeOther(next, { "Set-Cookie": grantCookie(ctx, requestContext, page.id, grant) });
  }

  return { answer, rejectThrottled };
}

/** Returns an address as a visitor of one page, so that other pages and other addresses count apart. */
function visitorOf({ id }: PageRow, { ip, network }: ClientAddress): ClientAddress {
  return { ip, network: `${id} ${network}` };
}

/** Path that a visitor asked for, and the visitor's address. */
interface AskedPath {
  next: string;
  address: ClientAddress;
}

/** Returns the form in the language of the path that it was shown for. */
function formOf(page: AskedPage, { next, address }: AskedPath) {
  const locale = languageOfRequest({ url: `http://localhost${next}` }, page) ?? page.locale;
  return { locale, action: page.action, next, address: address.ip };
}

/** Path of the page at `/` in a chosen language. */
const HOME_IN_LANGUAGE = /^\/\?lang=[\w-]{2,35}$/;

/** Path below a page, with its query: no empty segments, and none that lead up. */
const BELOW_PAGE = /^(?:\/[\w-][\w.~-]*)*(?:\?[\w.~%=&-]*)?$/;

/** Returns the path that a form names, if it is one of the page; else that of the page itself. */
function nextOf({ home }: AskedPage, next: string): string {
  const isBelow =
    home !== "/" &&
    next.length <= NEXT_MAX_LENGTH &&
    next.startsWith(home) &&
    BELOW_PAGE.test(next.slice(home.length));
  return isBelow || (home === "/" && HOME_IN_LANGUAGE.test(next)) ? next : home;
}

/** A request by a link. */
interface LinkCall {
  params: { slug: string; token: string };
  request: Request;
  requestContext: RequestContext;
}

/** Number of segments of `/status/{slug}/with/{token}`, with the empty one before the first slash. */
const LINK_SEGMENTS = 5;

/** Creates the answers to links. One that has ended leads to the form of a page with a password. */
function createLinkOpener(ctx: Ctx, { snapshots, visits, routes }: Dependencies) {
  function open({ params, request, requestContext }: LinkCall) {
    const { slug, token } = params;
    const { now } = requestContext;
    const page = snapshots.read(slug, now)?.document.page;
    const link = page && visits.findLink(page, token, now);
    const { path, query } = splitUrl(request.url) ?? { path: "", query: "" };
    const below = ["", ...path.split("/").slice(LINK_SEGMENTS)].join("/");
    const match = routes.match("GET", `/status/${slug}${below}`);
    const withQuery = (text: string) => (query === "" ? text : `${text}?${query}`);
    if (!page || !link) {
      const isForPeople = match.route?.operation.answers[401] !== undefined;
      const asks = page?.visibility === "private" && visits.hasPassword(page);
      // Redirects to the path without the token, which shows the form. A path with a token has `no-referrer`, so
      // browsers would send the form without its origin.
      if (asks && isForPeople) return seeOther(withQuery(`/status/${slug}${below}`));
      throw notFound("status page");
    }
    // A link leads to no other link.
    if (!match.route || match.route.operation.isSealed) throw notFound("path");
    const target = withQuery(`/status/${page.slug}${below}`);
    // A rule of a public page has no effect.
    if (page.visibility === "public") return seeOther(target);
    // Scanners of mails ask for headers alone.
    if (requestContext.request.method !== "HEAD") visits.noteUse(link.id, now);
    if (!answersPrograms(match.route.operation)) {
      const grant = visits.grant(page, link.id, now);
      const cookie = grantCookie(ctx, requestContext, page.id, grant);
      return seeOther(target, { "Set-Cookie": cookie });
    }
    if (page.slug !== slug) {
      return movedTo(withQuery(`/status/${page.slug}/with/${token}${below}`), NO_STORE);
    }
    requestContext.link = token;
    return match.route.handle({ request, params: match.params, query, requestContext });
  }

  return (call: LinkCall) => {
    const { params, requestContext } = call;
    return snapshots.whenReady(params.slug, requestContext.now, () => open(call));
  };
}
