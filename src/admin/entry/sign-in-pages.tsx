import type { AppContext } from "../../context";
import type { Problem } from "../../errors";
import { isHttps, type Sessions } from "../../features/auth";
import { hasUsers } from "../../features/users";
import {
  acceptsHtml,
  findSessionOwner,
  type GatewayContext,
  readTheme,
  sendHtml,
  sentFormOf,
  type Theme,
} from "../../http";
import { type HtmlDocument, linkedAssets } from "../../ui";
import { browserOrigin } from "../browser";
import { renderPlainScreen } from "../shell";
import { keepForm } from "./refused-form";
import { safeReturnPath } from "./return-path";
import { SignIn, type SignInProps } from "./sign-in";

const TITLE = "Sign in";

/** Parts of the sign-in page that differ from one answer to the next. */
type ShownValues = Pick<SignInProps, "email" | "next" | "error" | "kept">;

type PageProps = SignInProps & { theme: Theme };

export type SignInPages = ReturnType<typeof createSignInPages>;

/** Creates the pages with the sign-in form. */
export function createSignInPages(ctx: Pick<AppContext, "baseUrl" | "db">, sessions: Sessions) {
  let isSetUp = false;

  /** Returns true once there is a user. The result is kept, since users are never deleted. */
  function hasBeenSetUp(): boolean {
    isSetUp ||= hasUsers(ctx.db);
    return isSetUp;
  }

  function propsFor(request: Request, shown: ShownValues): PageProps {
    const instead = keepsCookies(ctx.baseUrl, request) ? {} : { publicAddress: ctx.baseUrl };
    return { ...shown, ...instead, hasUsers: hasBeenSetUp(), theme: readTheme(request) };
  }

  return {
    propsFor,
    render: renderSignIn,

    /**
     * Answers a form whose session has ended with the sign-in form, which keeps the fields. Undefined for
     * other failures, and for forms that cannot be kept.
     */
    answerRefusedForm(failure: Problem, { request, route }: GatewayContext): Response | undefined {
      if (failure.code !== "sign_in_required" || !route?.operation.keepsTyped) return undefined;
      const form = sentFormOf(request);
      if (!form || !acceptsHtml(request)) return undefined;
      const path = request.url.replace(/^[a-z]+:\/\/[^/]*/i, "");
      const kept = keepForm(form, path, findSessionOwner(ctx, sessions, request) ?? "");
      if (!kept) return undefined;
      const shown = { email: "", next: safeReturnPath(path), kept };
      return sendHtml(request, renderSignIn(propsFor(request, shown)), {
        status: failure.status,
        headers: { ...failure.headers },
      });
    },
  };
}

function renderSignIn({ theme, ...props }: PageProps): HtmlDocument {
  return renderPlainScreen({
    title: TITLE,
    theme,
    assets: linkedAssets(),
    children: <SignIn {...props} />,
  });
}

/**
 * Returns true if the browser would store the session cookie. With an HTTPS public address the
 * cookie is `Secure`, which browsers store over HTTPS or from localhost only.
 */
function keepsCookies(baseUrl: string, request: Request): boolean {
  if (!isHttps(baseUrl)) return true;
  const { protocol, hostname } = browserOrigin(request) ?? {};
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname ?? "");
  // A proxy may omit X-Forwarded-Proto, but browsers send this header over HTTPS only.
  return protocol === "https:" || isLocal || request.headers.has("sec-fetch-site");
}
