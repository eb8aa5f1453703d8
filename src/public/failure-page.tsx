import { ERRORS, type Problem } from "../errors";
import { seeOther, sendHtml, type Visit } from "../http";
import { renderDocument } from "../ui";

/**
 * What went wrong, as a page for a person: where a browser asks, outside the API. A browser that has
 * to sign in first is sent there, and comes back to where it wanted to go.
 */
export function failurePage(failure: Problem, visit: Visit): Response | undefined {
  const { request } = visit;
  if (!isForPerson(request)) return undefined;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (failure.code === "sign_in_required" && isRead) {
    return seeOther(`/admin/sign-in?next=${encodeURIComponent(pathOf(request.url))}`);
  }
  return sendHtml(request, renderFailure(failure, visit.requestId), {
    status: failure.status,
    headers: { ...failure.headers },
  });
}

function isForPerson(request: Request): boolean {
  const accept = request.headers.get("accept") ?? "";
  return accept.includes("text/html") && !pathOf(request.url).startsWith("/api/");
}

/** Path and query. Whatever the host was: it may be one that makes no URL. */
function pathOf(url: string): string {
  return url.replace(/^[a-z]+:\/\/[^/]*/i, "") || "/";
}

function renderFailure(failure: Problem, requestId: string) {
  const { title } = ERRORS[failure.code];
  const mayLeaveForm = failure.code === "sign_in_required";
  return renderDocument({
    title: `${title} · Allclear`,
    children: (
      <main class="column">
        <header class="page-head">
          <h1>{title}</h1>
        </header>
        <p>{failure.message}</p>
        {mayLeaveForm ? (
          <p>
            <a href="/admin/sign-in" target="_blank">
              Sign in in another tab
            </a>
            , come back here with your browser's back button, and send the form again.
          </p>
        ) : null}
        <p class="muted">
          {failure.status} <code>{failure.code}</code> · request <code>{requestId}</code>
        </p>
        <p class="muted">
          <a href="/">Status page</a>
        </p>
      </main>
    ),
  });
}
