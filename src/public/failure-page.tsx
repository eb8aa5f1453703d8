import type { ComponentChildren } from "preact";
import { type ErrorCode, ERRORS, type Problem } from "../base/errors";
import type { Ctx } from "../context";
import { withLanguage } from "../features/pages/language-links";
import { findPageBySlug } from "../features/pages/store";
import type { Snapshots } from "../features/status/snapshots";
import type { MessageKey } from "../languages/words";
import { answersPrograms, type DeclaredRoute } from "../http/operation";
import type { RequestContext } from "../http/request-context";
import { readTheme, type Theme } from "../http/cookies";
import { seeOther, sendHtml } from "../http/answers";
import { SECOND_FACTOR_PATH, SIGN_IN_PATH } from "../http/caller";
import { containsKeyShape } from "../base/ids";
import { Actions } from "../ui/form";
import { ButtonLink } from "../ui/buttons";
import {
  createPageCache,
  type HtmlDocument,
  PlainPage,
  renderLinkedDocument,
} from "../ui/documents";
import { linkedAssets } from "../ui/assets";
import { languageOfRequest } from "./chosen-language";
import { type PageWords, pageWordsOf, useWords } from "../ui/words";

/** Screens that are shown instead of those that were requested, by the reason. */
const INSTEAD: Partial<Record<ErrorCode, string>> = {
  sign_in_required: SIGN_IN_PATH,
  second_factor_required: SECOND_FACTOR_PATH,
};

/** Placeholder of the request id in a cached page, since each answer has another one. */
const REQUEST_ID_PLACEHOLDER = "{request}";

/**
 * Creates a function that returns an HTML page for a failure, or undefined if the client is not a browser or
 * the path belongs to the API. If sign-in or a second factor is required, it redirects there with a link back. Pages for
 * `rate_limited` and `unavailable` are cached, since thousands may be needed in one second.
 */
export function createFailurePage(
  localeOf: LocaleOfFailure,
): (failure: Problem, context: RequestContext) => Response | undefined {
  const loadPages = createPageCache(renderFailure);
  /** Results of `answersPrograms`, cached since answers under load must stay cheap. */
  const routesOfPrograms = new Map<DeclaredRoute, boolean>();

  function isForPrograms(route: DeclaredRoute): boolean {
    let isIt = routesOfPrograms.get(route);
    if (isIt === undefined) {
      isIt = answersPrograms(route.operation);
      routesOfPrograms.set(route, isIt);
    }
    return isIt;
  }

  /** Returns true if a browser requested a path that is not for programs, or a part of a page is missing. */
  function needsHtml(context: RequestContext, status: number, path: string): boolean {
    const { request, route } = context;
    if (route && context.isMissingPart(status)) return !isForPrograms(route);
    const accept = request.headers.get("accept") ?? "";
    if (!accept.includes("text/html") || path.startsWith("/api/")) return false;
    return !route || (route.operation.access.kind !== "health" && !isForPrograms(route));
  }

  function render(failure: Problem, context: RequestContext, path: string): HtmlDocument {
    const { code, message, said, next } = failure;
    const isCached = code === "rate_limited" || code === "unavailable";
    const isSubmission = !isRead(context.request);
    const requestId = context.shownRequestId(failure.status);
    const locale = localeOf(context, path, next?.path, isCached);
    const targets = { ...targetsOf(context, path, locale), next };
    const theme = targets.isDashboard ? readTheme(context.request) : "system";
    const waitSeconds = Number(failure.headers["Retry-After"]) || 1;
    const about = { code, message, said, waitSeconds };
    const props = { ...about, locale, targets, theme, isSubmission };
    if (!isCached) return renderFailure({ ...props, requestId });
    const page = loadPages({ ...props, requestId: REQUEST_ID_PLACEHOLDER });
    return { ...page, html: page.html.replace(REQUEST_ID_PLACEHOLDER, context.requestId) };
  }

  return (failure, context) => {
    const { request } = context;
    const path = pathOf(request.url);
    if (!needsHtml(context, failure.status, path)) return undefined;
    const instead = INSTEAD[failure.code];
    if (instead !== undefined && isRead(request)) return seeOther(withWayBack(instead, path));
    return sendHtml(request, render(failure, context, path), {
      status: failure.status,
      headers: { ...failure.headers },
    });
  };
}

/**
 * Returns the locale of the failure page of a path, or of the path to which it links. It must cost little if `isCheap`, and
 * must not differ for a page that does not exist and a private one to which the visitor was not admitted.
 */
type LocaleOfFailure = (
  context: RequestContext,
  path: string,
  nextPath: string | undefined,
  isCheap: boolean,
) => string;

/** Paths whose error pages are in English: the dashboard and the documentation. */
const ENGLISH_PATH = /^\/(?:admin|docs)(?:[/?]|$)/;

/** Creates the function that finds the locale of a failure page: that of its status page, or of the default page. */
export function createLocaleOfFailure(ctx: Ctx, snapshots: Snapshots): LocaleOfFailure {
  return ({ domain, now, request, admittedPageId }, path, nextPath, isCheap) => {
    // A link to a page is in the language of the person.
    const chosenBy = nextPath === undefined ? request : { url: ctx.baseUrl + nextPath };

    /** Finds the locale of a page that the visitor may see, or the language that the visitor has chosen. */
    function localeOfPage(slug: string): string | undefined {
      const page = isCheap
        ? snapshots.current(slug, now)?.document.page
        : findPageBySlug(ctx.db, { slug });
      if (!page || (page.visibility !== "public" && page.id !== admittedPageId)) return undefined;
      return languageOfRequest(chosenBy, page) ?? page.locale;
    }

    if (!domain && ENGLISH_PATH.test(path)) return "en";
    const [, named] = /^\/status\/([a-z0-9-]+)/.exec(nextPath ?? path) ?? [];
    try {
      const own = named === undefined ? undefined : localeOfPage(named);
      if (own !== undefined) return own;
      const slug = (domain ?? snapshots.defaultPage())?.slug;
      return (slug === undefined ? undefined : localeOfPage(slug)) ?? "en";
    } catch {
      // The database may be the reason for the failure.
      return "en";
    }
  };
}

function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Returns a path with a link back, unless the path to return to contains a key value. */
function withWayBack(path: string, next: string): string {
  return containsKeyShape(next) ? path : `${path}?next=${encodeURIComponent(next)}`;
}

/** Returns path and query of a URL, without parsing it, since its host may be invalid. */
function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/i, "") || "/";
}

/** Returns the path of the status page that a path is part of, whether it exists or not; else "/". */
function statusPagePath(path: string): string {
  return /^\/status\/[a-z0-9-]+(?=\/)/.exec(path)?.[0] ?? "/";
}

/** Targets of the links of a failure page. */
interface LinkTargets {
  /** True for a path of the dashboard. */
  isDashboard: boolean;
  /** Path of the status page to link to. */
  statusPage: string;
  /** Link that the failure has instead. */
  next?: Problem["next"];
}

function targetsOf({ domain }: RequestContext, path: string, locale: string): LinkTargets {
  const [, language] = /[?&]lang=([\w-]+)/.exec(path) ?? [];
  const chosen = language === locale ? locale : undefined;
  // A custom domain has only its status page, not the dashboard.
  return {
    isDashboard: !domain && /^\/admin(?:[/?]|$)/.test(path),
    statusPage: withLanguage(domain ? "/" : statusPagePath(path), chosen),
  };
}

interface FailureProps {
  code: ErrorCode;
  message: string;
  said: MessageKey | undefined;
  /** Seconds after which the request can be sent again. */
  waitSeconds: number;
  locale: string;
  targets: LinkTargets;
  theme: Theme;
  /** True if the request submitted a form. */
  isSubmission: boolean;
  /** Undefined if other visitors see the page too. */
  requestId: string | undefined;
}

/** Messages for the codes that visitors meet. All others say that the request was rejected. */
const TITLES: Partial<Record<ErrorCode, MessageKey>> = {
  not_found: "failure.not_found",
  rate_limited: "failure.rate_limited",
  unavailable: "failure.unavailable",
  internal_error: "failure.internal_error",
};

/** Message with the minutes of the wait. */
const CROWDED = "failure.crowded" satisfies MessageKey;

/** Number of seconds from which a wait is given in minutes. */
const IN_MINUTES = 120;

/** Returns the text of a failure in another language than English, in which each failure has a text of its own. */
function textOf({ code, said, waitSeconds }: FailureProps, { say }: PageWords): ComponentChildren {
  if (said === CROWDED) return say(CROWDED, { minutes: Math.ceil(waitSeconds / 60) });
  if (said !== undefined) return say(said);
  switch (code) {
    case "not_found":
      return null;
    case "rate_limited":
      return waitSeconds < IN_MINUTES
        ? say("failure.rate_limited_text", { seconds: waitSeconds })
        : say("failure.rate_limited_minutes", { minutes: Math.ceil(waitSeconds / 60) });
    case "unavailable":
      return say("failure.unavailable_text");
    case "internal_error":
      return say("failure.internal_error_text");
    default:
      return say("failure.rejected_text");
  }
}

function renderFailure(props: FailureProps): HtmlDocument {
  const { code, message, targets, theme, isSubmission, requestId } = props;
  const words = pageWordsOf(props.locale);
  const { t, say } = words;
  const { status } = ERRORS[code];
  const title = words.isEnglish ? ERRORS[code].title : t(TITLES[code] ?? "failure.rejected");
  const text = words.isEnglish ? message : textOf(props, words);
  const canResubmit = isSubmission && (code === "rate_limited" || code === "unavailable");
  return renderLinkedDocument({
    title: `${title} · Allclear`,
    words,
    theme,
    assets: linkedAssets(),
    children: (
      <PlainPage
        title={title}
        foot={
          <>
            {status} {code}
            {requestId === undefined ? null : (
              <> · {say("failure.request", { id: <code>{requestId}</code> })}</>
            )}
          </>
        }
      >
        {text === null ? null : <p>{text}</p>}
        {code === "not_found" && !targets.next ? <p>{say("failure.not_found_text")}</p> : null}
        {canResubmit ? <p>{say("failure.keep_input")}</p> : null}
        <Actions>
          <BackLinks {...targets} />
        </Actions>
      </PlainPage>
    ),
  });
}

function BackLinks({ isDashboard, statusPage, next }: LinkTargets) {
  const { isEnglish, say } = useWords();
  if (next) {
    return (
      <ButtonLink href={next.path} kind="primary">
        {next.said && !isEnglish ? say(next.said) : next.label}
      </ButtonLink>
    );
  }
  if (!isDashboard) {
    return (
      <ButtonLink href={statusPage} kind="primary">
        {say("failure.to_page")}
      </ButtonLink>
    );
  }
  return (
    <>
      <ButtonLink href="/admin" kind="primary">
        Back to the dashboard
      </ButtonLink>
      <ButtonLink href={statusPage}>Status page</ButtonLink>
    </>
  );
}
