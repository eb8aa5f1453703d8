import type { Problem } from "../../../base/errors";
import type { Ctx } from "../../../context";
import { acceptsHtml, sendHtml } from "../../../http/answers";
import { findSessionOwner, readTheme, type Theme } from "../../../http/cookies";
import { sentFormOf } from "../../../http/form-body";
import type { RequestContext } from "../../../http/request-context";
import type { RouteTable } from "../../../http/route-table";
import { linkedAssets } from "../../../ui/assets";
import type { HtmlDocument } from "../../../ui/documents";
import { browserOrigin } from "../../../ui/frame/browser";
import { renderPlainScreen } from "../../../ui/frame/shell";
import { canResetByMail } from "../../users/forgot";
import { hasUsers } from "../../users/users";
import { isHttps } from "../rules";
import type { Sessions } from "../sessions";
import { keepForm, type RefusedForm } from "./refused-form";
import { returnPathOf } from "./return-path";
import { SignIn, type SignInProps } from "./sign-in";

const TITLE = "Sign in";

/** Parts of the sign-in page that differ from one answer to the next. */
type ShownValues = Pick<SignInProps, "email" | "next" | "error" | "kept" | "refused">;

type PageProps = SignInProps & { theme: Theme };

export type SignInPages = ReturnType<typeof createSignInPages>;

/** Creates the pages with the sign-in form. */
export function createSignInPages(ctx: Ctx, sessions: Sessions, routes: RouteTable) {
  let isSetUp = false;

  /** Returns true once there is a user. The result is kept, since users are never deleted. */
  function hasBeenSetUp(): boolean {
    isSetUp ||= hasUsers(ctx.db);
    return isSetUp;
  }

  function propsFor(request: Request, shown: ShownValues): PageProps {
    const instead = keepsCookies(ctx.baseUrl, request) ? {} : { publicAddress: ctx.baseUrl };
    const facts = { hasUsers: hasBeenSetUp(), canReset: canResetByMail(ctx) };
    return { ...shown, ...instead, ...facts, theme: readTheme(request) };
  }

  /** Returns the form of a refused request without secrets; undefined if it cannot be kept. */
  function keptFormOf({ request, route }: RequestContext, path: string): RefusedForm | undefined {
    const form = route?.operation.keepsTyped ? sentFormOf(request) : undefined;
    return form && keepForm(form, path, findSessionOwner(ctx, sessions, request) ?? "");
  }

  return {
    propsFor,
    render: renderSignIn,

    /**
     * Answers a form or a button whose session has ended with the sign-in form, which keeps the fields of the
     * form. Undefined for other failures.
     */
    answerRefusedForm(failure: Problem, context: RequestContext): Response | undefined {
      const { request, route } = context;
      if (failure.code !== "sign_in_required" || request.method !== "POST") return undefined;
      if (!acceptsHtml(request)) return undefined;
      const path = request.url.replace(/^[a-z]+:\/\/[^/]*/i, "");
      const kept = keptFormOf(context, path);
      const refused = kept ? "kept" : route?.operation.keepsTyped ? "lost" : "button";
      const next = returnPathOf(request, path, { routes, baseUrl: ctx.baseUrl });
      const shown = { email: "", next, refused, ...(kept ? { kept } : {}) } as const;
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
