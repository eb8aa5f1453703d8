import { ERRORS, type Problem } from "../errors";
import { seeOther, sendHtml, SIGN_IN_PATH, type Visit } from "../http";
import { containsKeyShape } from "../kernel/key-shape";
import { Actions, ButtonLink, linkedAssets, PlainPage, renderLinkedDocument } from "../ui";

/**
 * What went wrong, as a page for a person: where a browser asks, outside the API. A browser that has
 * to sign in first is sent there, and comes back to where it wanted to go.
 */
export function failurePage(failure: Problem, visit: Visit): Response | undefined {
  const { request } = visit;
  if (!isForPerson(visit)) return undefined;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (failure.code === "sign_in_required" && isRead) {
    return seeOther(signInPath(pathOf(request.url)));
  }
  return sendHtml(request, renderFailure(failure, visit), {
    status: failure.status,
    headers: { ...failure.headers },
  });
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

function renderFailure(failure: Problem, { request, requestId, domain }: Visit) {
  const { title } = ERRORS[failure.code];
  const mayLeaveForm = failure.code === "sign_in_required";
  const path = pathOf(request.url);
  // On a page's own domain there is that page, and no dashboard.
  const isDashboard = !domain && /^\/admin(?:[/?]|$)/.test(path);
  const statusPage = domain ? "/" : statusPagePath(path);
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
            <WayBack isDashboard={isDashboard} statusPage={statusPage} />
          )}
        </Actions>
      </PlainPage>
    ),
  });
}

function WayBack({ isDashboard, statusPage }: { isDashboard: boolean; statusPage: string }) {
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
