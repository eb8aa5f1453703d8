import { Elysia } from "elysia";
import { LRUCache } from "lru-cache";
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
import { userActor } from "../../kernel/actor";
import type { ClientAddress } from "../../kernel/client-address";
import { plural } from "../../kernel/text";
import { type HtmlDocument, linkedAssets } from "../../ui";
import { browserOrigin } from "../browser-origin";
import { sessionOriginOf } from "../device";
import type { AdminParts } from "../parts";
import { HOME_PATH, SIGN_OUT_PATH } from "../paths";
import { safeReturnPath } from "../return-path";
import { screenOperation } from "../screen-operation";
import { renderPlainScreen } from "../shell";
import { SignIn, type SignInProps } from "./sign-in";

const PUBLIC = { kind: "public" } as const;
const TITLE = "Sign in";
const KEPT_PAGES = 100;

/** `/admin/sign-in` and `/admin/sign-out`. */
export function signInAdminRoutes({
  ctx,
  admissions,
  render,
  sessions,
  passwords,
  throttle,
}: AdminParts) {
  /** The page of a refused attempt, by all that it shows: rendered once however many are refused. */
  const waitPages = new LRUCache<string, HtmlDocument>({ max: KEPT_PAGES });

  function page(request: Request, shown: Pick<SignInProps, "email" | "next" | "complaint">) {
    const elsewhere = keepsCookies(ctx.baseUrl, request) ? {} : { elsewhere: ctx.baseUrl };
    return { ...shown, ...elsewhere, hasUsers: hasUsers(ctx.db) };
  }

  function show(
    request: Request,
    shown: Pick<SignInProps, "email" | "next" | "complaint">,
    how: { status?: number; headers?: Record<string, string> } = {},
  ) {
    const children = <SignIn {...page(request, shown)} />;
    return render.plain(request, { title: TITLE, ...how, children });
  }

  /** Refuses an attempt that the address may not make now, before the form is read. */
  function refuseAttempt(request: Request, address: ClientAddress): Response | undefined {
    const seconds = throttle.takeAttempt(address);
    if (seconds === 0) return undefined;
    const shown = page(request, { email: "", next: HOME_PATH, complaint: waitText(seconds) });
    const key = JSON.stringify(shown);
    const document =
      waitPages.get(key) ??
      renderPlainScreen({
        title: TITLE,
        assets: linkedAssets(),
        children: <SignIn {...shown} />,
      });
    waitPages.set(key, document);
    return sendHtml(request, document, toWait(seconds));
  }

  return new Elysia()
    .use(admissions.plugin)
    .get(
      SIGN_IN_PATH,
      async ({ request, admission, query }) => {
        const next = safeReturnPath(query["next"]);
        if (findCurrentSession(ctx, sessions, request, admission.now)) return seeOther(next);
        return show(request, { email: "", next });
      },
      screenOperation("The form to sign in", PUBLIC),
    )
    .post(
      SIGN_IN_PATH,
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
          return show(request, { email, next, complaint: waitText(seconds) }, toWait(seconds));
        }
        const origin = sessionOriginOf(request, admission);
        const before = findCurrentSession(ctx, sessions, request, ctx.clock.now());
        const token = await ctx.db.write((tx) => signIn(ctx, tx, outcome.user, origin, before));
        return seeOther(next, { "Set-Cookie": sessionCookie(ctx, token) });
      },
      { ...formBody(), ...screenOperation("Sign in", PUBLIC, { beforeBody: refuseAttempt }) },
    )
    .post(
      SIGN_OUT_PATH,
      async ({ request, admission }) => {
        const current = findCurrentSession(ctx, sessions, request, ctx.clock.now());
        if (current) {
          const { id, user } = current;
          const actor = userActor(user, admission.address.ip);
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

function waitText(seconds: number): string {
  return `Too many attempts. Wait ${plural(seconds, "second")}, then try again.`;
}

/** The status and the headers of a refusal that says how long to wait. */
function toWait(seconds: number) {
  return { status: 429, headers: { "Retry-After": String(seconds) } };
}

/**
 * Whether the browser that a request comes from would keep the session's cookie: a public address with
 * HTTPS makes it `Secure`, which is kept over HTTPS and on the machine itself.
 */
function keepsCookies(baseUrl: string, request: Request): boolean {
  if (!isSecure(baseUrl)) return true;
  const { protocol, hostname } = browserOrigin(request) ?? {};
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname ?? "");
  // A proxy may not tell of HTTPS; but over plain HTTP browsers do not send this header.
  return protocol === "https:" || isLocal || request.headers.has("sec-fetch-site");
}
