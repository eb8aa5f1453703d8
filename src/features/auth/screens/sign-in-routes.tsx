import { userActor } from "../../../base/actor";
import type { ClientAddress } from "../../../base/client-address";
import { seeOther, sendHtml } from "../../../http/answers";
import { SIGN_IN_PATH } from "../../../http/caller";
import {
  endedSessionCookie,
  findCurrentSession,
  readTheme,
  sessionCookie,
} from "../../../http/cookies";
import { declareRoutes } from "../../../http/elysia";
import { formBody } from "../../../http/form-body";
import { linkedAssets } from "../../../ui/assets";
import { createPageCache } from "../../../ui/documents";
import { sessionOriginOf } from "../../../ui/frame/browser";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { HOME_PATH, SIGN_OUT_PATH } from "../../../ui/frame/paths";
import { renderPlainScreen } from "../../../ui/frame/shell";
import { screenOperation } from "../../../ui/screens/routes";
import { authenticate, endOneSession, signIn } from "../../users/sign-in";
import { isHttps } from "../rules";
import type { LiveSession } from "../sessions";
import { waitText } from "../throttle";
import { readKeptForm, type RefusedForm, RefusedFormPage, safeReturnPath } from "./refused-form";
import { KEPT_SIGN_IN_PATH } from "./sign-in";

const PUBLIC = { kind: "public" } as const;

/** Routes `/admin/sign-in` and `/admin/sign-out`. */
export function signInAdminRoutes({
  ctx,
  flashes,
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

  /** Answers a successful sign-in with the way back to the form that was kept; undefined for that of another user. */
  function returnToForm(
    request: Request,
    kept: RefusedForm,
    session: LiveSession,
    headers: Record<string, string> = {},
  ): Response | undefined {
    if (kept.owner !== "" && kept.owner !== session.user.id) {
      flashes.put(session.id, { tone: "maint", text: OF_ANOTHER_USER });
      return undefined;
    }
    const page = renderPlainScreen({
      title: "You are signed in",
      theme: readTheme(request),
      assets: linkedAssets(),
      children: <RefusedFormPage kept={kept} user={session.user} />,
    });
    return sendHtml(request, page, { headers });
  }

  return declareRoutes()
    .get(
      SIGN_IN_PATH,
      async ({ request, requestContext, query }) => {
        const next = safeReturnPath(query["next"]);
        if (findCurrentSession(ctx, sessions, request, requestContext.now)) return seeOther(next);
        return show(request, { email: "", next });
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
          const current = findCurrentSession(ctx, sessions, request, ctx.clock.now());
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
        const before = findCurrentSession(ctx, sessions, request, ctx.clock.now());
        const token = await ctx.db.write((tx) => signIn(ctx, tx, outcome.user, origin, before));
        const headers = { "Set-Cookie": sessionCookie(ctx, token) };
        const session = kept && sessions.find(token, ctx.clock.now());
        const back = kept && session && returnToForm(request, kept, session, headers);
        return back ?? seeOther(next, headers);
      },
      { ...formBody(), ...screenOperation(PUBLIC, { beforeBody: rejectThrottled }) },
    )
    .post(
      SIGN_OUT_PATH,
      async ({ request, requestContext }) => {
        const current = findCurrentSession(ctx, sessions, request, ctx.clock.now());
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

/** Returns true for an attempt to sign in from a page that keeps a form. */
function hasKeptForm({ url }: Request): boolean {
  return url.endsWith(KEPT_SIGN_IN_PATH);
}

const NOT_SIGNED_IN = "You are not signed in yet. Sign in first, then continue to the form.";

const OF_ANOTHER_USER =
  "The form that was open belonged to another user, so its content was not kept.";

/** Returns status and headers of the answer to a throttled attempt. */
function waitResponseOptions(seconds: number) {
  return { status: 429, headers: { "Retry-After": String(seconds) } };
}
