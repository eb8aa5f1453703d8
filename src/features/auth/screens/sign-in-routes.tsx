import { userActor } from "../../../base/actor";
import type { ClientAddress } from "../../../base/client-address";
import { seeOther, sendHtml } from "../../../http/answers";
import { SIGN_IN_PATH } from "../../../http/caller";
import {
  endedSessionCookie,
  findFullSession,
  findAnySession,
  sessionCookie,
  stepCookie,
  stepTokens,
} from "../../../http/cookies";
import { declareRoutes } from "../../../http/elysia";
import { formBody } from "../../../http/form-body";
import { createPageCache } from "../../../ui/documents";
import { sessionOriginOf } from "../../../ui/frame/browser";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { HOME_PATH, SIGN_OUT_PATH, withQuery } from "../../../ui/frame/paths";
import { screenOperation } from "../../../ui/screens/routes";
import { readCode } from "../../users/rules";
import { signInWithCode } from "../../users/second-factors";
import { authenticate, endOneSession, signIn } from "../../users/sign-in";
import { isHttps } from "../rules";
import type { LiveSession } from "../sessions";
import { findStep } from "../steps";
import { waitText } from "../throttle";
import { CODE_PATH, codeError, CodePage, NO_CODE } from "./code";
import { readKeptForm, type RefusedForm, renderWayBack, safeReturnPath } from "./refused-form";
import { describeProxyUser, KEPT_SIGN_IN_PATH } from "./sign-in";

const PUBLIC = { kind: "public" } as const;

/** Routes `/admin/sign-in`, `/admin/sign-in/code` and `/admin/sign-out`. */
export function signInAdminRoutes({
  ctx,
  flashes,
  render,
  routes,
  sessions,
  signInPages,
  passwords,
  throttle,
}: AdminDependencies) {
  /** Rendered pages of throttled attempts, by their content. */
  const waitPages = createPageCache(signInPages.render);

  async function show(
    request: Request,
    shown: Parameters<typeof signInPages.propsFor>[1],
    response: { status?: number; headers?: Record<string, string> } = {},
  ) {
    return sendHtml(request, signInPages.render(signInPages.propsFor(request, shown)), response);
  }

  /**
   * Rejects an attempt from a throttled client address, before the form is read, and throws `unavailable` if it
   * could not be verified. An attempt with a kept form is left to `rejectThrottledWithForm`.
   */
  function rejectThrottled(request: Request, address: ClientAddress): Response | undefined {
    if (hasKeptForm(request)) return undefined;
    const seconds = throttle.takeAttempt(address);
    if (seconds === 0) {
      // Hundreds of sign-ins can arrive in one turn of the event loop, and most of them find no place.
      passwords.requirePlace(throttle.turnOf(address));
      return undefined;
    }
    const error = waitText(seconds);
    const page = waitPages(signInPages.propsFor(request, { email: "", next: HOME_PATH, error }));
    return sendHtml(request, page, waitResponseOptions(seconds));
  }

  /** Rejects an attempt from a throttled client address with a page that still has the kept form. */
  async function rejectThrottledWithForm(
    request: Request,
    address: ClientAddress,
    shown: { email: string; next: string; kept: RefusedForm | undefined },
  ): Promise<Response | undefined> {
    const seconds = hasKeptForm(request) ? throttle.takeAttempt(address) : 0;
    if (seconds === 0) return undefined;
    return show(request, { ...shown, error: waitText(seconds) }, waitResponseOptions(seconds));
  }

  /** Answers a successful sign-in with the way back to the form that was kept, or to a screen. */
  function welcome(
    request: Request,
    token: string,
    { next, kept }: { next: string; kept: RefusedForm | undefined },
  ): Response {
    const headers = { "Set-Cookie": sessionCookie(ctx, token) };
    const session = kept && sessions.find(token, ctx.clock.now());
    const back = kept && session && returnToForm(request, kept, session, headers);
    return back ?? seeOther(next, headers);
  }

  /** Returns the way back to the form that was kept; undefined for that of another user, or if the session cannot send it. */
  function returnToForm(
    request: Request,
    kept: RefusedForm,
    session: LiveSession,
    headers: Record<string, string> = {},
  ): Response | undefined {
    if (session.isForSetUpOnly) return undefined;
    if (kept.owner !== "" && kept.owner !== session.user.id) {
      flashes.put(session.id, { tone: "maint", text: OF_ANOTHER_USER });
      return undefined;
    }
    return sendHtml(request, renderWayBack(request, { kept, user: session.user }), { headers });
  }

  /** Returns the token of the sign-in of a browser that waits for a code. */
  function findStepToken(request: Request): string | undefined {
    const now = ctx.clock.now();
    return stepTokens(ctx, request).find((token) => findStep(ctx.db, token, now) !== undefined);
  }

  function showCode(
    request: Request,
    shown: Parameters<typeof CodePage>[0],
    response: { status?: number; headers?: Record<string, string> } = {},
  ) {
    return render.plain(request, {
      title: "Enter your code",
      ...response,
      children: <CodePage {...shown} />,
    });
  }

  return declareRoutes()
    .get(
      SIGN_IN_PATH,
      async ({ request, requestContext, query }) => {
        const next = safeReturnPath(query["next"]);
        if (findAnySession(ctx, sessions, request, requestContext.now)) return seeOther(next);
        return show(request, { email: "", next, named: describeProxyUser(ctx, requestContext) });
      },
      screenOperation(PUBLIC),
    )
    .post(
      SIGN_IN_PATH,
      async ({ request, requestContext, body: form }) => {
        const email = form.text("email").trim();
        const next = safeReturnPath(form.text("next"));
        const kept = readKeptForm(form, routes);
        if (kept && form.text("continue") !== "") {
          const current = findFullSession(ctx, sessions, request, ctx.clock.now());
          return current
            ? (returnToForm(request, kept, current) ?? seeOther(next))
            : show(request, { email, next, error: NOT_SIGNED_IN, kept }, { status: 422 });
        }
        const credentials = { email, password: form.text("password") };
        const { address } = requestContext;
        const throttled = await rejectThrottledWithForm(request, address, { email, next, kept });
        if (throttled) return throttled;
        const outcome = await authenticate(ctx, { passwords, throttle }, credentials, address);
        if ("rejection" in outcome) {
          if (outcome.rejection === "wrong") {
            const error = "The e-mail or the password is wrong.";
            return show(request, { email, next, error, kept }, { status: 422 });
          }
          const { seconds } = outcome;
          const error = waitText(seconds);
          return show(request, { email, next, error, kept }, waitResponseOptions(seconds));
        }
        const origin = sessionOriginOf(request, requestContext);
        const before = findAnySession(ctx, sessions, request, ctx.clock.now());
        const signedIn = await ctx.db.write((tx) => signIn(ctx, tx, outcome.user, origin, before));
        if ("sessionToken" in signedIn) {
          return welcome(request, signedIn.sessionToken, { next, kept });
        }
        const headers = { "Set-Cookie": stepCookie(ctx, signedIn.stepToken) };
        // A kept form is too large for an address.
        if (kept) return showCode(request, { next, kept }, { headers });
        return seeOther(codePath(next), headers);
      },
      { ...formBody(), ...screenOperation(PUBLIC, { beforeBody: rejectThrottled }) },
    )
    .get(
      CODE_PATH,
      async ({ request, requestContext, query }) => {
        const next = safeReturnPath(query["next"]);
        if (findStepToken(request) !== undefined) return showCode(request, { next });
        const session = findAnySession(ctx, sessions, request, requestContext.now);
        return seeOther(session ? next : withQuery(SIGN_IN_PATH, { next }));
      },
      screenOperation(PUBLIC),
    )
    .post(
      CODE_PATH,
      async ({ request, requestContext, body: form }) => {
        const next = safeReturnPath(form.text("next"));
        const kept = readKeptForm(form, routes);
        const recoveryCode = form.text("recovery_code").trim();
        const shown = { next, kept, usesRecoveryCode: recoveryCode !== "" };
        const startAgain = (error: string) =>
          show(request, { email: "", next, error, kept }, { status: 422 });
        const before = findAnySession(ctx, sessions, request, ctx.clock.now());
        const token = findStepToken(request);
        // A form that was sent twice has started the session already.
        if (token === undefined) return before ? seeOther(next) : startAgain(ENDED);
        const typed = readCode(recoveryCode || form.text("code"));
        if (!typed) return showCode(request, { ...shown, error: NO_CODE }, { status: 422 });
        const origin = sessionOriginOf(request, requestContext);
        const outcome = await ctx.db.write((tx) =>
          signInWithCode(ctx, tx, { token, typed }, origin, before),
        );
        if ("sessionToken" in outcome) return welcome(request, outcome.sessionToken, shown);
        if (outcome.rejection === "ended") {
          return startAgain(outcome.isByTries ? "Five codes were wrong. Sign in again." : ENDED);
        }
        const { error, seconds } = codeError(outcome, ctx.clock.now());
        const response = seconds === undefined ? { status: 422 } : waitResponseOptions(seconds);
        return showCode(request, { ...shown, error }, response);
      },
      { ...formBody(), ...screenOperation(PUBLIC) },
    )
    .post(
      SIGN_OUT_PATH,
      async ({ request, requestContext }) => {
        const current = findAnySession(ctx, sessions, request, ctx.clock.now());
        if (current) {
          const { id, user } = current;
          const actor = userActor(user, requestContext.address.ip);
          await ctx.db.write((tx) => endOneSession(ctx, tx, user.id, id, actor));
        }
        return seeOther(SIGN_IN_PATH, {
          "Set-Cookie": endedSessionCookie(ctx),
          // Browsers accept this header over HTTPS only, and log a warning otherwise.
          ...(isHttps(ctx.baseUrl) ? { "Clear-Site-Data": '"cache"' } : {}),
        });
      },
      // Public, since signing out of a session that has ended must succeed.
      { ...formBody(), ...screenOperation(PUBLIC) },
    );
}

/** Returns the path of the code of a sign-in, with the path to open after it. */
function codePath(next: string): string {
  return withQuery(CODE_PATH, { next: next === HOME_PATH ? undefined : next });
}

/** Returns true for an attempt to sign in from a page that keeps a form. */
function hasKeptForm({ url }: Request): boolean {
  return url.endsWith(KEPT_SIGN_IN_PATH);
}

const NOT_SIGNED_IN = "You are not signed in yet. Sign in first, then continue to the form.";

const ENDED = "This sign-in has ended. Sign in again.";

const OF_ANOTHER_USER =
  "The form that was open belonged to another user, so its content was not kept.";

/** Returns status and headers of the answer to a throttled attempt. */
function waitResponseOptions(seconds: number) {
  return { status: 429, headers: { "Retry-After": String(seconds) } };
}
