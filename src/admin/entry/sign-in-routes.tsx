import { Elysia } from "elysia";
import { isHttps } from "../../features/auth";
import { authenticate, endOneSession, hasUsers, signIn } from "../../features/users";
import {
  endedSessionCookie,
  findCurrentSession,
  formBody,
  readTheme,
  seeOther,
  sendHtml,
  sessionCookie,
  SIGN_IN_PATH,
  type Theme,
} from "../../http";
import { userActor } from "../../domain/actor";
import type { ClientAddress } from "../../kernel/client-address";
import { createPageCache, linkedAssets } from "../../ui";
import { browserOrigin, sessionOriginOf } from "../browser";
import type { AdminDependencies } from "../dependencies";
import { HOME_PATH, SIGN_OUT_PATH } from "../paths";
import { safeReturnPath } from "./return-path";
import { screenOperation } from "../screen-operation";
import { renderPlainScreen } from "../shell";
import { SignIn, type SignInProps, waitText } from "./sign-in";

const PUBLIC = { kind: "public" } as const;
const TITLE = "Sign in";

/** Parts of the sign-in page that differ from one answer to the next. */
type ShownValues = Pick<SignInProps, "email" | "next" | "error">;

/** Routes `/admin/sign-in` and `/admin/sign-out`. */
export function signInAdminRoutes({
  ctx,
  requestContexts,
  render,
  sessions,
  passwords,
  throttle,
}: AdminDependencies) {
  /** Rendered pages of throttled attempts, by their content. */
  const waitPages = createPageCache(({ theme, ...props }: SignInProps & { theme: Theme }) =>
    renderPlainScreen({
      title: TITLE,
      theme,
      assets: linkedAssets(),
      children: <SignIn {...props} />,
    }),
  );
  let isSetUp = false;

  /** Returns true once there is a user. The result is kept, since users are never deleted. */
  function hasBeenSetUp(): boolean {
    isSetUp ||= hasUsers(ctx.db);
    return isSetUp;
  }

  function signInProps(request: Request, shown: ShownValues): SignInProps {
    const instead = keepsCookies(ctx.baseUrl, request) ? {} : { publicAddress: ctx.baseUrl };
    return { ...shown, ...instead, hasUsers: hasBeenSetUp() };
  }

  function show(
    request: Request,
    shown: ShownValues,
    response: { status?: number; headers?: Record<string, string> } = {},
  ) {
    const children = <SignIn {...signInProps(request, shown)} />;
    return render.plain(request, { title: TITLE, ...response, children });
  }

  /** Rejects an attempt from a throttled client address, before the form is read. */
  function rejectThrottled(request: Request, address: ClientAddress): Response | undefined {
    const seconds = throttle.takeAttempt(address);
    if (seconds === 0) return undefined;
    const shown = { email: "", next: HOME_PATH, error: waitText(seconds) };
    const page = waitPages({ ...signInProps(request, shown), theme: readTheme(request) });
    return sendHtml(request, page, waitResponseOptions(seconds));
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      SIGN_IN_PATH,
      async ({ request, requestContext, query }) => {
        const next = safeReturnPath(query["next"]);
        if (findCurrentSession(ctx, sessions, request, requestContext.now)) return seeOther(next);
        return show(request, { email: "", next });
      },
      screenOperation("Show the form for signing in", PUBLIC),
    )
    .post(
      SIGN_IN_PATH,
      async ({ request, requestContext, body: form }) => {
        const email = form.text("email").trim();
        const next = safeReturnPath(form.text("next"));
        const credentials = { email, password: form.text("password") };
        const { address } = requestContext;
        const outcome = await authenticate(ctx, { passwords, throttle }, credentials, address);
        if ("rejection" in outcome) {
          if (outcome.rejection === "wrong") {
            const error = "The email or the password is wrong.";
            return show(request, { email, next, error }, { status: 422 });
          }
          const { seconds } = outcome;
          const error = waitText(seconds);
          return show(request, { email, next, error }, waitResponseOptions(seconds));
        }
        const origin = sessionOriginOf(request, requestContext);
        const before = findCurrentSession(ctx, sessions, request, ctx.clock.now());
        const token = await ctx.db.write((tx) => signIn(ctx, tx, outcome.user, origin, before));
        return seeOther(next, { "Set-Cookie": sessionCookie(ctx, token) });
      },
      { ...formBody(), ...screenOperation("Sign in", PUBLIC, { beforeBody: rejectThrottled }) },
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
      { ...formBody(), ...screenOperation("Sign out", PUBLIC) },
    );
}

/** Returns status and headers of the answer to a throttled attempt. */
function waitResponseOptions(seconds: number) {
  return { status: 429, headers: { "Retry-After": String(seconds) } };
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
