import { Elysia } from "elysia";
import { isSecure } from "../../features/auth";
import { authenticate, endOneSession, hasUsers, signIn } from "../../features/users";
import {
  endedSessionCookie,
  findCurrentSession,
  formBody,
  seeOther,
  sendHtml,
  sessionCookie,
  SIGN_IN_PATH,
} from "../../http";
import { userActor } from "../../domain/actor";
import type { ClientAddress } from "../../kernel/client-address";
import { createPageCache, linkedAssets } from "../../ui";
import { browserOrigin } from "../browser-origin";
import { sessionOriginOf } from "../device";
import type { AdminDependencies } from "../dependencies";
import { HOME_PATH, SIGN_OUT_PATH } from "../paths";
import { safeReturnPath } from "./return-path";
import { screenOperation } from "../screen-operation";
import { renderPlainScreen } from "../shell";
import { waitText } from "../wait-text";
import { SignIn, type SignInProps } from "./sign-in";

const PUBLIC = { kind: "public" } as const;
const TITLE = "Sign in";

/** Parts of the sign-in page that differ from one answer to the next. */
type ShownValues = Pick<SignInProps, "email" | "next" | "complaint">;

/** Routes `/admin/sign-in` and `/admin/sign-out`. */
export function signInAdminRoutes({
  ctx,
  requestContexts,
  render,
  sessions,
  passwords,
  throttle,
}: AdminDependencies) {
  /** Pages of refused attempts, by their content. */
  const waitPages = createPageCache((props: SignInProps) =>
    renderPlainScreen({
      title: TITLE,
      assets: linkedAssets(),
      children: <SignIn {...props} />,
    }),
  );
  let isSetUp = false;

  /** Returns true once there is a user. Users are disabled, never deleted, so that true stays true. */
  function hasBeenSetUp(): boolean {
    isSetUp ||= hasUsers(ctx.db);
    return isSetUp;
  }

  function signInProps(request: Request, shown: ShownValues): SignInProps {
    const elsewhere = keepsCookies(ctx.baseUrl, request) ? {} : { elsewhere: ctx.baseUrl };
    return { ...shown, ...elsewhere, hasUsers: hasBeenSetUp() };
  }

  function show(
    request: Request,
    shown: ShownValues,
    how: { status?: number; headers?: Record<string, string> } = {},
  ) {
    const children = <SignIn {...signInProps(request, shown)} />;
    return render.plain(request, { title: TITLE, ...how, children });
  }

  /** Refuses an attempt from a throttled client address, before the form is read. */
  function refuseAttempt(request: Request, address: ClientAddress): Response | undefined {
    const seconds = throttle.takeAttempt(address);
    if (seconds === 0) return undefined;
    const shown = { email: "", next: HOME_PATH, complaint: waitText(seconds) };
    const page = waitPages(signInProps(request, shown));
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
      screenOperation("The form to sign in", PUBLIC),
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
            const complaint = "The email or the password is wrong.";
            return show(request, { email, next, complaint }, { status: 422 });
          }
          const { seconds } = outcome;
          const complaint = waitText(seconds);
          return show(request, { email, next, complaint }, waitResponseOptions(seconds));
        }
        const origin = sessionOriginOf(request, requestContext);
        const before = findCurrentSession(ctx, sessions, request, ctx.clock.now());
        const token = await ctx.db.write((tx) => signIn(ctx, tx, outcome.user, origin, before));
        return seeOther(next, { "Set-Cookie": sessionCookie(ctx, token) });
      },
      { ...formBody(), ...screenOperation("Sign in", PUBLIC, { beforeBody: refuseAttempt }) },
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
          // Browsers hear it over HTTPS only, and complain of it elsewhere.
          ...(isSecure(ctx.baseUrl) ? { "Clear-Site-Data": '"cache"' } : {}),
        });
      },
      // Who was signed out meanwhile wants nothing else than what is so already.
      { ...formBody(), ...screenOperation("Sign out", PUBLIC) },
    );
}

/** Returns the status and the headers of a refusal that says how long to wait. */
function waitResponseOptions(seconds: number) {
  return { status: 429, headers: { "Retry-After": String(seconds) } };
}

/**
 * Returns true if the browser would store the session cookie. With an HTTPS public address the
 * cookie is `Secure`, which browsers store over HTTPS or from localhost only.
 */
function keepsCookies(baseUrl: string, request: Request): boolean {
  if (!isSecure(baseUrl)) return true;
  const { protocol, hostname } = browserOrigin(request) ?? {};
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname ?? "");
  // A proxy may not tell of HTTPS; but over plain HTTP browsers do not send this header.
  return protocol === "https:" || isLocal || request.headers.has("sec-fetch-site");
}
