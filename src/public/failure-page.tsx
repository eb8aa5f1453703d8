import { type ErrorCode, ERRORS, type Problem } from "../base/errors";
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
export function createFailurePage(): (
  failure: Problem,
  context: RequestContext,
) => Response | undefined {
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
    const { code, message, next } = failure;
    const targets = { ...targetsOf(context, path), next };
    const isCached = code === "rate_limited" || code === "unavailable";
    const isSubmission = !isRead(context.request);
    const requestId = context.shownRequestId(failure.status);
    const theme = targets.isDashboard ? readTheme(context.request) : "system";
    const props = { code, message, targets, theme, isSubmission };
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

function targetsOf({ domain }: RequestContext, path: string): LinkTargets {
  // A custom domain has only its status page, not the dashboard.
  return {
    isDashboard: !domain && /^\/admin(?:[/?]|$)/.test(path),
    statusPage: domain ? "/" : statusPagePath(path),
  };
}

interface FailureProps {
  code: ErrorCode;
  message: string;
  targets: LinkTargets;
  theme: Theme;
  /** True if the request submitted a form. */
  isSubmission: boolean;
  /** Undefined if other visitors see the page too. */
  requestId: string | undefined;
}

function renderFailure(props: FailureProps): HtmlDocument {
  const { code, message, targets, theme, isSubmission, requestId } = props;
  const { status, title } = ERRORS[code];
  const canResubmit = isSubmission && (code === "rate_limited" || code === "unavailable");
  return renderLinkedDocument({
    title: `${title} · Allclear`,
    theme,
    assets: linkedAssets(),
    children: (
      <PlainPage
        title={title}
        foot={
          <>
            {status} {code}
            {requestId === undefined ? null : (
              <>
                {" "}
                · request <code>{requestId}</code>
              </>
            )}
          </>
        }
      >
        <p>{message}</p>
        {code === "not_found" && !targets.next ? (
          <p>The page may have been removed, or the address may be incomplete.</p>
        ) : null}
        {canResubmit ? (
          <p>
            To keep your input, go back to the form with your browser's back button and submit it
            again later.
          </p>
        ) : null}
        <Actions>
          <BackLinks {...targets} />
        </Actions>
      </PlainPage>
    ),
  });
}

function BackLinks({ isDashboard, statusPage, next }: LinkTargets) {
  if (next) {
    return (
      <ButtonLink href={next.path} kind="primary">
        {next.label}
      </ButtonLink>
    );
  }
  if (!isDashboard) {
    return (
      <ButtonLink href={statusPage} kind="primary">
        Go to the status page
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
