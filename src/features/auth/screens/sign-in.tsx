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
import { Button, ButtonLink } from "../../../ui/buttons";
import type { HtmlDocument } from "../../../ui/documents";
import { Actions, Form, TextField } from "../../../ui/form";
import { HOME_PATH, PROVIDER_PATH, withQuery } from "../../../ui/frame/paths";
import { keepsCookies } from "../../../ui/frame/public-address";
import { renderPlainScreen } from "../../../ui/frame/shell";
import { findSignInOutcome, personOfProxy } from "../../users/identities";
import { canResetByMail, FORGOT_PATH } from "../../users/mails";
import { hasUsers } from "../../users/users";
import { providerName } from "../provider";
import type { Sessions } from "../sessions";
import {
  hiddenFieldsOf,
  keepForm,
  type RefusedForm,
  renderWayBack,
  returnPathOf,
  SignInError,
} from "./refused-form";

const TITLE = "Sign in";

/** Parts of the sign-in page that differ from one answer to the next. */
type ShownValues = Pick<SignInProps, "email" | "next" | "error" | "kept" | "refused" | "named">;

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
    const facts = {
      hasUsers: hasBeenSetUp(),
      canReset: canResetByMail(ctx),
      provider: providerName(ctx.config),
      isForOwners: ctx.config.localSignIn === "owners",
    };
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
     * form. If the proxy in front of this server has signed the user in meanwhile, answers with the way back to the
     * form. Undefined for other failures.
     */
    answerRefusedForm(failure: Problem, context: RequestContext): Response | undefined {
      const { request, route } = context;
      if (failure.code !== "sign_in_required" || request.method !== "POST") return undefined;
      if (!acceptsHtml(request)) return undefined;
      const path = request.url.replace(/^[a-z]+:\/\/[^/]*/i, "");
      const kept = keptFormOf(context, path);
      const options = { status: failure.status, headers: { ...failure.headers } };
      const { begunSession: token } = context;
      const begun = token === undefined ? undefined : sessions.find(token, ctx.clock.now());
      if (kept && begun) {
        return sendHtml(request, renderWayBack(request, { kept, user: begun.user }), options);
      }
      const refused = kept ? "kept" : route?.operation.keepsTyped ? "lost" : "button";
      const next = returnPathOf(request, path, { routes, baseUrl: ctx.baseUrl });
      const named = describeProxyUser(ctx, context);
      const shown = { email: "", next, refused, named, ...(kept ? { kept } : {}) } as const;
      return sendHtml(request, renderSignIn(propsFor(request, shown)), options);
    },
  };
}

/** Describes the user whom the proxy in front of this server names; undefined without one. */
export function describeProxyUser(ctx: Ctx, { proxyUser }: RequestContext): SignInProps["named"] {
  if (!proxyUser) return undefined;
  const outcome = findSignInOutcome(ctx, ctx.db, personOfProxy(proxyUser, ctx.config));
  return { name: proxyUser.name, isLetIn: !("rejection" in outcome) };
}

function renderSignIn({ theme, ...props }: PageProps): HtmlDocument {
  return renderPlainScreen({
    title: TITLE,
    theme,
    assets: linkedAssets(),
    children: <SignIn {...props} />,
  });
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
  /** User whom the proxy in front of this server names. */
  named?: { name: string; isLetIn: boolean } | undefined;
  /** Name of the provider; undefined without one. */
  provider: string | undefined;
  /** True if only owners sign in with a password. */
  isForOwners: boolean;
}

/** Path to which a sign-in page with a kept form is posted, so that a throttled attempt keeps it too. */
export const KEPT_SIGN_IN_PATH = `${SIGN_IN_PATH}?form=kept`;

/** Sign-in form. */
function SignIn(props: SignInProps) {
  const { email, next, error, kept, refused, publicAddress, hasUsers, canReset } = props;
  const { provider, isForOwners, named } = props;
  if (named?.isLetIn) return <ContinueAsNamed name={named.name} next={next} refused={refused} />;
  return (
    <>
      {named === undefined ? null : (
        <Notice tone="degraded" title="You have no access yet">
          The proxy in front of this server names you as <bdi>{named.name}</bdi>. Ask an owner of
          this server for access. If you have a password here, sign in with it and connect in
          Account.
        </Notice>
      )}
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
      {error === undefined ? null : <SignInError error={error} kept={kept} />}
      {provider === undefined ? null : (
        <ProviderSignIn provider={provider} next={next} kept={kept} isForOwners={isForOwners} />
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
          autofocus={email === "" && provider === undefined}
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
          <Button kind={provider === undefined ? "primary" : "quiet"}>Sign in</Button>
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

/**
 * Page after signing out, or after a form that is not the user's own, for a user whom the proxy signs in again. It asks
 * for no password, since the proxy decides about the user.
 */
function ContinueAsNamed({
  name,
  next,
  refused,
}: Pick<SignInProps, "next" | "refused"> & { name: string }) {
  return (
    <>
      {refused === undefined ? null : (
        <Notice tone="maint" title="Your session has ended">
          {refused === "button"
            ? "Nothing was changed."
            : "Nothing was saved, and the form is not kept."}
        </Notice>
      )}
      <p>
        The proxy in front of this server names you as <bdi>{name}</bdi>, so you need no password.
        To be someone else, sign out at the proxy.
      </p>
      <Actions>
        <ButtonLink href={next} kind="primary">
          Continue
        </ButtonLink>
      </Actions>
    </>
  );
}

interface ProviderSignInProps extends Pick<SignInProps, "next" | "kept" | "isForOwners"> {
  provider: string;
}

/** Link that begins a sign-in with the provider. A kept form stays on this page meanwhile. */
function ProviderSignIn({ provider, next, kept, isForOwners }: ProviderSignInProps) {
  const href = withQuery(PROVIDER_PATH, { next: next === HOME_PATH ? undefined : next });
  return (
    <>
      <Actions>
        <ButtonLink href={href} kind="primary" opensTab={kept !== undefined}>
          Sign in with {provider}
        </ButtonLink>
      </Actions>
      {kept ? (
        <Form action={KEPT_SIGN_IN_PATH} hidden={{ next, ...hiddenFieldsOf(kept) }}>
          <p class="hint">
            It opens in another tab, so that your form is kept here. Come back when you are signed
            in.
          </p>
          <Actions>
            <Button name="continue" value="yes">
              Continue to the form
            </Button>
          </Actions>
        </Form>
      ) : null}
      <p class="muted">
        {isForOwners ? "Owners can also sign in with a password:" : "Or sign in with a password:"}
      </p>
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
