import { LRUCache } from "lru-cache";
import { ERRORS, type Problem } from "../errors";
import { seeOther, sendHtml, SIGN_IN_PATH, type Visit } from "../http";
import { containsKeyShape } from "../kernel/key-shape";
import {
  Actions,
  ButtonLink,
  type HtmlDocument,
  linkedAssets,
  PlainPage,
  renderLinkedDocument,
} from "../ui";

/** Number of different refusals for load whose pages are kept. */
const KEPT_PAGES = 100;
/** Stands for the request's id in a page that is kept. */
const ID_PLACE = "{request}";

/**
 * Writes the page that tells a person what went wrong: where a browser asks, outside the API. A browser
 * that has to sign in first is sent there, and comes back to where it wanted to go. Refusals for load
 * are rendered once and kept, since thousands of them may be due in one second.
 */
export function createFailurePage(): (failure: Problem, visit: Visit) => Response | undefined {
  const kept = new LRUCache<string, HtmlDocument>({ max: KEPT_PAGES });

  function render(failure: Problem, visit: Visit): HtmlDocument {
    const places = placesOf(visit);
    const isForLoad = failure.code === "rate_limited" || failure.code === "unavailable";
    if (!isForLoad) return renderFailure(failure, places, visit.requestId);
    const key = JSON.stringify([failure.code, failure.message, places]);
    const page = kept.get(key) ?? renderFailure(failure, places, ID_PLACE);
    kept.set(key, page);
    return { ...page, html: page.html.replace(ID_PLACE, visit.requestId) };
  }

  return (failure, visit) => {
    const { request } = visit;
    if (!isForPerson(visit)) return undefined;
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (failure.code === "sign_in_required" && isRead) {
      return seeOther(signInPath(pathOf(request.url)));
    }
    return sendHtml(request, render(failure, visit), {
      status: failure.status,
      headers: { ...failure.headers },
    });
  };
}

/** Signing in, and then back to a path; but a key's value in it goes into no further address. */
function signInPath(next: string): string {
  return containsKeyShape(next) ? SIGN_IN_PATH : `${SIGN_IN_PATH}?next=${encodeURIComponent(next)}`;
}

/** A browser, on a path that is no program's. */
function isForPerson({ request, route }: Visit): boolean {
  const accept = request.headers.get("accept") ?? "";
  if (!accept.includes("text/html") || pathOf(request.url).startsWith("/api/")) return false;
  const { access, answers } = route?.operation ?? {};
  const isJson = Object.values(answers ?? {}).some(({ schema }) => schema !== undefined);
  return access?.kind !== "health" && !isJson;
}

/** Path and query. Whatever the host was: it may be one that makes no URL. */
function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/i, "") || "/";
}

/** Below a status page, that page, whether or not there is one: the path alone says so. */
function statusPagePath(path: string): string {
  return /^\/status\/[a-z0-9-]+(?=\/)/.exec(path)?.[0] ?? "/";
}

/** The places that a failure page links to. */
interface Places {
  isDashboard: boolean;
  statusPage: string;
}

function placesOf({ request, domain }: Visit): Places {
  const path = pathOf(request.url);
  // On a page's own domain there is that page, and no dashboard.
  return {
    isDashboard: !domain && /^\/admin(?:[/?]|$)/.test(path),
    statusPage: domain ? "/" : statusPagePath(path),
  };
}

function renderFailure(failure: Problem, places: Places, requestId: string): HtmlDocument {
  const { title } = ERRORS[failure.code];
  const mayLeaveForm = failure.code === "sign_in_required";
  return renderLinkedDocument({
    title: `${title} · Allclear`,
    assets: linkedAssets(),
    children: (
      <PlainPage
        title={title}
        foot={
          <>
            {failure.status} {failure.code} · request <code>{requestId}</code>
          </>
        }
      >
        <p>{failure.message}</p>
        {failure.code === "not_found" ? (
          <p>It may have been removed, or the address may have lost a part on its way here.</p>
        ) : null}
        {mayLeaveForm ? (
          <p>
            Sign in in another tab, come back here, go back to the form with your browser's back
            button, and send it again.
          </p>
        ) : null}
        <Actions>
          {mayLeaveForm ? (
            <ButtonLink href={SIGN_IN_PATH} kind="primary" opensTab>
              Open sign-in in another tab
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
