import { Elysia } from "elysia";
import {
  canResetByMail,
  FORGOT_PATH,
  forgottenEmail,
  requestPassword,
} from "../../features/users/forgot";
import { formBody } from "../../http/form-body";
import { seeOther } from "../../http/answers";
import { unlessUnavailable } from "../../http/problems";
import { plural } from "../../base/text";
import { MINUTE_MS, SECOND_MS } from "../../base/time";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import type { StateOf } from "../../ui/forms/form";
import { screenOperation } from "../../ui/screens/routes";
import { Forgot, FORGOT_FORM, ForgotSent, NoForgot } from "./forgot";

const PUBLIC = { kind: "public" } as const;
const SENT_PATH = `${FORGOT_PATH}/sent`;
const TITLE = "Forgotten password";

/** Routes `/admin/forgot`: a mail with a link for choosing a new password. */
export function forgotAdminRoutes({ ctx, requestContexts, render }: AdminDependencies) {
  function show(
    request: Request,
    state: StateOf<typeof FORGOT_FORM>,
    response: { status?: number; headers?: Record<string, string> } = {},
  ) {
    return render.plain(request, {
      title: TITLE,
      ...response,
      children: <Forgot state={state} />,
    });
  }

  function showNone(request: Request) {
    return render.plain(request, { title: TITLE, status: 404, children: <NoForgot /> });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      FORGOT_PATH,
      async ({ request }) =>
        canResetByMail(ctx)
          ? show(request, FORGOT_FORM.state(FORGOT_FORM.initial(), {}))
          : showNone(request),
      screenOperation("Show the form for a forgotten password", PUBLIC),
    )
    .post(
      FORGOT_PATH,
      async ({ request, requestContext, body: sent }) => {
        if (!canResetByMail(ctx)) return showNone(request);
        const values = FORGOT_FORM.read(sent);
        const email = forgottenEmail(FORGOT_FORM.parse(values, {}).body.email);
        if ("error" in email) {
          const errors = [{ pointer: "#/email", detail: email.error }];
          return show(request, FORGOT_FORM.rejected(values, errors, {}), { status: 422 });
        }
        const forgotten = { ...email, client: requestContext.address };
        const write = ctx.db.write((tx) => requestPassword(ctx, tx, forgotten));
        const written = await unlessUnavailable(write);
        if ("unavailable" in written) {
          const { status, headers } = written.unavailable;
          const notice = "Your request could not be stored. Try again in a moment.";
          return show(request, { ...FORGOT_FORM.state(values, {}), notice }, { status, headers });
        }
        const seconds = written.result;
        if (seconds === 0) return seeOther(SENT_PATH);
        const state = { ...FORGOT_FORM.state(values, {}), notice: tooManyText(seconds) };
        return show(request, state, {
          status: 429,
          headers: { "Retry-After": String(seconds) },
        });
      },
      { ...formBody(), ...screenOperation("Ask for a link for a new password", PUBLIC) },
    )
    .get(
      SENT_PATH,
      async ({ request }) =>
        render.plain(request, { title: "Check your e-mail", children: <ForgotSent /> }),
      screenOperation("Show the page after asking for a link", PUBLIC),
    );
}

function tooManyText(seconds: number): string {
  const wait = plural(Math.ceil((seconds * SECOND_MS) / MINUTE_MS), "minute");
  return `Too many links were asked for. Try again in ${wait}.`;
}
