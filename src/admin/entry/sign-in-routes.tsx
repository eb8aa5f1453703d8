import { Elysia } from "elysia";
import { endSession } from "../../features/auth";
import { authenticate, hasUsers, signIn } from "../../features/users";
import {
  endedSessionCookie,
  formBody,
  operation,
  presentSession,
  seeOther,
  session,
  sessionCookie,
  sessionOf,
} from "../../http";
import { type AdminParts, screen } from "../parts";
import { safeReturnPath } from "../return-path";
import { userAgentOf } from "./device";
import { SignIn, type SignInScreen } from "./sign-in";

const PUBLIC = { kind: "public" } as const;

/** `/admin/sign-in` and `/admin/sign-out`. */
export function signInScreens({
  ctx,
  admissions,
  screens,
  sessions,
  passwords,
  throttle,
}: AdminParts) {
  function show(
    request: Request,
    page: Pick<SignInScreen, "email" | "next" | "complaint">,
    how: { status?: number; headers?: Record<string, string> } = {},
  ) {
    const elsewhere = keepsCookies(ctx.baseUrl, request) ? {} : { elsewhere: ctx.baseUrl };
    return screens.showPlain(request, {
      title: "Sign in",
      ...how,
      children: <SignIn {...page} {...elsewhere} hasUsers={hasUsers(ctx.db)} />,
    });
  }

  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/admin/sign-in",
      async ({ request, admission, query }) => {
        const next = safeReturnPath(query["next"]);
        if (presentSession(ctx, sessions, request, admission.now)) return seeOther(next);
        return show(request, { email: "", next });
      },
      operation(screen("The form to sign in", PUBLIC)),
    )
    .post(
      "/admin/sign-in",
      async ({ request, admission, body: form }) => {
        const email = form.text("email").trim();
        const next = safeReturnPath(form.text("next"));
        const credentials = { email, password: form.text("password") };
        const { address } = admission;
        const outcome = await authenticate(ctx, { passwords, throttle }, credentials, address);
        if ("refusal" in outcome) {
          if (outcome.refusal === "wrong") {
            const complaint = "The email or the password is wrong.";
            return show(request, { email, next, complaint }, { status: 422 });
          }
          const { seconds } = outcome;
          const complaint = `Too many attempts. Wait ${seconds} ${seconds === 1 ? "second" : "seconds"}, then try again.`;
          const headers = { "Retry-After": String(seconds) };
          return show(request, { email, next, complaint }, { status: 429, headers });
        }
        const from = { ip: address.ip, userAgent: userAgentOf(request) };
        const before = presentSession(ctx, sessions, request, ctx.clock.now());
        const token = await ctx.db.write((tx) => signIn(ctx, tx, outcome.user, from, before));
        return seeOther(next, { "Set-Cookie": sessionCookie(ctx, token) });
      },
      { ...formBody(), ...operation(screen("Sign in", PUBLIC)) },
    )
    .post(
      "/admin/sign-out",
      async ({ admission }) => {
        const { id, user } = sessionOf(admission);
        await ctx.db.write((tx) => endSession(tx, user.id, id));
        return seeOther("/admin/sign-in", {
          "Set-Cookie": endedSessionCookie(ctx),
          "Clear-Site-Data": '"cache"',
        });
      },
      { ...formBody(), ...operation(screen("Sign out", session("viewer"))) },
    );
}

/**
 * Whether a browser at the address of this request would keep the session's cookie: a public address
 * with HTTPS makes it `Secure`, which is kept there and on the machine itself.
 */
function keepsCookies(baseUrl: string, request: Request): boolean {
  const { host, hostname } = new URL(request.url);
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  const isBehindHttps = request.headers.get("x-forwarded-proto") === "https";
  if (!baseUrl.startsWith("https:") || isLocal || isBehindHttps) return true;
  return host === new URL(baseUrl).host;
}
