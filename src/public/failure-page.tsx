import { type ErrorCode, ERRORS, type Problem } from "../errors";
import { type Route, seeOther, sendHtml, SIGN_IN_PATH, type GatewayContext } from "../http";
import { containsKeyShape } from "../domain/key-shape";
import {
  Actions,
  ButtonLink,
  createPageCache,
  type HtmlDocument,
  linkedAssets,
  PlainPage,
  renderLinkedDocument,
} from "../ui";

/** Placeholder of the request id in a cached page. */
const ID_PLACE = "{request}";

/**
 * Returns a function that answers failures with an HTML page if a browser requested a path outside the
 * API, else with undefined. It redirects to sign-in where that is required, with a link back. Pages for
 * `rate_limited` and `unavailable` are cached, since thousands may be needed in one second.
 */
export function createFailurePage(): (
  failure: Problem,
  context: GatewayContext,
) => Response | undefined {
  const loadPages = createPageCache(renderFailure);
  /** True for routes that answer JSON. Cached, since answers under load must stay cheap. */
  const jsonRoutes = new Map<Route, boolean>();

  function answersJson(route: Route): boolean {
    let isJson = jsonRoutes.get(route);
    if (isJson === undefined) {
      isJson = Object.values(route.operation.answers).some(({ schema }) => schema !== undefined);
      jsonRoutes.set(route, isJson);
    }
    return isJson;
  }

  /** Returns true for a browser on a path that people visit. */
  function isForPerson({ request, route }: GatewayContext, path: string): boolean {
    const accept = request.headers.get("accept") ?? "";
    if (!accept.includes("text/html") || path.startsWith("/api/")) return false;
    return !route || (route.operation.access.kind !== "health" && !answersJson(route));
  }

  function render({ code, message }: Problem, context: GatewayContext, path: string): HtmlDocument {
    const places = placesOf(context, path);
    const isForLoad = code === "rate_limited" || code === "unavailable";
    const isForm = !isRead(context.request);
    const { requestId } = context;
    if (!isForLoad) return renderFailure({ code, message, places, isForm, requestId });
    const page = loadPages({ code, message, places, isForm, requestId: ID_PLACE });
    return { ...page, html: page.html.replace(ID_PLACE, requestId) };
  }

  return (failure, context) => {
    const { request } = context;
    const path = pathOf(request.url);
    if (!isForPerson(context, path)) return undefined;
    if (failure.code === "sign_in_required" && isRead(request)) {
      return seeOther(signInPath(path));
    }
    return sendHtml(request, render(failure, context, path), {
      status: failure.status,
      headers: { ...failure.headers },
    });
  };
}

function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Returns the path of sign-in with a link back, unless the path to return to contains a key value. */
function signInPath(next: string): string {
  return containsKeyShape(next) ? SIGN_IN_PATH : `${SIGN_IN_PATH}?next=${encodeURIComponent(next)}`;
}

/** Returns path and query. The host may be invalid, so the URL is not parsed. */
function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/i, "") || "/";
}

/** Returns the status page that a path belongs to, whether it exists or not; else "/". */
function statusPagePath(path: string): string {
  return /^\/status\/[a-z0-9-]+(?=\/)/.exec(path)?.[0] ?? "/";
}

/** Targets of the links of a failure page. */
interface Places {
  isDashboard: boolean;
  statusPage: string;
}

function placesOf({ domain }: GatewayContext, path: string): Places {
  // A custom domain has only its status page, not the dashboard.
  return {
    isDashboard: !domain && /^\/admin(?:[/?]|$)/.test(path),
    statusPage: domain ? "/" : statusPagePath(path),
  };
}

interface FailureProps {
  code: ErrorCode;
  message: string;
  places: Places;
  /** True if a form was sent. */
  isForm: boolean;
  requestId: string;
}

function renderFailure(props: FailureProps): HtmlDocument {
  const { code, message, places, isForm, requestId } = props;
  const { status, title } = ERRORS[code];
  const mayLeaveForm = code === "sign_in_required";
  const canBeSentAgain = isForm && (code === "rate_limited" || code === "unavailable");
  return renderLinkedDocument({
    title: `${title} · Allclear`,
    assets: linkedAssets(),
    children: (
      <PlainPage
        title={title}
        foot={
          <>
            {status} {code} · request <code>{requestId}</code>
          </>
        }
      >
        <p>{message}</p>
        {code === "not_found" ? (
          <p>The page may have been removed, or the address may be incomplete.</p>
        ) : null}
        {canBeSentAgain ? (
          <p>
            To keep your input, go back to the form with your browser's back button and submit it
            again later.
          </p>
        ) : null}
        {mayLeaveForm ? (
          <p>
            To keep your input, sign in in another tab, then go back to the form with your browser's
            back button and submit it again.
          </p>
        ) : null}
        <Actions>
          {mayLeaveForm ? (
            <ButtonLink href={SIGN_IN_PATH} kind="primary" opensTab>
              Sign in in another tab
            </ButtonLink>
          ) : (
            <WayBack {...places} />
          )}
        </Actions>
      </PlainPage>
    ),
  });
}

function WayBack({ isDashboard, statusPage }: Places) {
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
