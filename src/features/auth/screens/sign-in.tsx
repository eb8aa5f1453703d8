/*
 * The sign-in page in all of its states. It also answers forms and buttons whose session had ended. Its routes are in
 * `sign-in-routes.tsx`.
 */

import type { Problem } from "../../../base/errors";
import type { Ctx } from "../../../context";
import { acceptsHtml, sendHtml } from "../../../http/answers";
import { SIGN_IN_PATH } from "../../../http/caller";
import { findSessionOwner, readTheme, type Theme } from "../../../http/cookies";
import { sentFormOf } from "../../../http/form-body";
import type { RequestContext } from "../../../http/request-context";
import type { RouteTable } from "../../../http/route-table";
import { linkedAssets } from "../../../ui/assets";
import { Notice } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import type { HtmlDocument } from "../../../ui/documents";
import { Actions, Form, TextField } from "../../../ui/form";
import { browserOrigin } from "../../../ui/frame/browser";
import { HOME_PATH } from "../../../ui/frame/paths";
import { renderPlainScreen } from "../../../ui/frame/shell";
import { canResetByMail, FORGOT_PATH } from "../../users/mails";
import { hasUsers } from "../../users/users";
import { isHttps } from "../rules";
import type { Sessions } from "../sessions";
import { hiddenFieldsOf, keepForm, type RefusedForm, returnPathOf } from "./refused-form";

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

interface SignInProps {
  email: string;
  /** Path to open after signing in. */
  next: string;
  error?: string;
  /** Form to return to, which was submitted after its session had ended. */
  kept?: RefusedForm | undefined;
  /** Set in the answer to a form or button whose session had ended. */
  refused?: "kept" | "lost" | "button";
  /** Public address, if the browser would not store the session cookie at the current address. */
  publicAddress?: string;
  hasUsers: boolean;
  /** True if users can ask for a link for a new password by mail. */
  canReset: boolean;
}

/** Path to which a sign-in page with a kept form is posted, so that a throttled attempt keeps it too. */
export const KEPT_SIGN_IN_PATH = `${SIGN_IN_PATH}?form=kept`;

/** Sign-in form. */
function SignIn(props: SignInProps) {
  const { email, next, error, kept, refused, publicAddress, hasUsers, canReset } = props;
  return (
    <>
      {hasUsers ? null : (
        <Notice tone="maint" title="Allclear is not set up yet">
          Open the link that the server printed when it started. Restart the server to print a new
          link.
        </Notice>
      )}
      {publicAddress === undefined ? null : (
        <Notice tone="degraded" title="Signing in needs HTTPS">
          Browsers store the session cookie over HTTPS only. Sign in at{" "}
          <a href={`${publicAddress}${HOME_PATH}`}>{publicAddress}</a> instead. If that address is
          wrong, restart the server with the right <code>--base-url</code>.
        </Notice>
      )}
      {refused === undefined ? null : (
        <Notice tone="maint" title="Your session has ended">
          <Refused refused={refused} isPartial={kept?.isPartial ?? false} />
        </Notice>
      )}
      {error === undefined ? null : (
        <div role="alert">
          <Notice tone="major">
            {error}
            {kept ? " Your form is still kept." : ""}
          </Notice>
        </div>
      )}
      <Form
        action={kept ? KEPT_SIGN_IN_PATH : SIGN_IN_PATH}
        hidden={{ next, ...hiddenFieldsOf(kept) }}
      >
        <TextField
          label="E-mail"
          name="email"
          type="email"
          value={email}
          autocomplete="username"
          required
          autofocus={email === ""}
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          autofocus={email !== ""}
        />
        <Actions>
          <Button kind="primary">Sign in</Button>
        </Actions>
      </Form>
      {canReset ? (
        <p class="muted">
          <a href={FORGOT_PATH}>Forgot your password?</a>
        </p>
      ) : (
        <p class="muted">
          Forgot your password? Ask an owner for a reset link (Settings → Users), or run{" "}
          <code>allclear user reset-password</code> on the server.
        </p>
      )}
    </>
  );
}

/** Explains what became of a form or button whose session had ended. */
function Refused({ refused, isPartial }: { refused: string; isPartial: boolean }) {
  switch (refused) {
    case "kept":
      return (
        <>
          Nothing was saved. Sign in to return to the form with what you typed
          {isPartial ? ", except for secrets and files" : ""}.
        </>
      );
    case "lost":
      return (
        <>
          Nothing was saved, and the form cannot be kept here.{" "}
          <a href={SIGN_IN_PATH} target="_blank">
            Sign in in another tab
          </a>
          , then go back with your browser's back button and submit the form again.
        </>
      );
    default:
      return <>Nothing was changed. Sign in, then try again.</>;
  }
}
