import { declareRoutes } from "../../../http/elysia";
import { plural } from "../../../base/text";
import { MINUTE_MS, SECOND_MS } from "../../../base/time";
import { seeOther, unlessUnavailable } from "../../../http/answers";
import { SIGN_IN_PATH } from "../../../http/caller";
import { formBody } from "../../../http/form-body";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Actions, Form } from "../../../ui/form";
import { FormFields, textField } from "../../../ui/forms/fields";
import { defineForm, type StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { screenOperation } from "../../../ui/screens/routes";
import { canResetByMail, FORGOT_PATH, forgottenEmail, requestPassword } from "../../users/mails";

const PUBLIC = { kind: "public" } as const;
const SENT_PATH = `${FORGOT_PATH}/sent`;
const TITLE = "Forgotten password";

/** Routes `/admin/forgot`: a mail with a link for choosing a new password. */
export function forgotAdminRoutes({ ctx, render }: AdminDependencies) {
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

  return declareRoutes()
    .get(
      FORGOT_PATH,
      async ({ request }) =>
        canResetByMail(ctx)
          ? show(request, FORGOT_FORM.state(FORGOT_FORM.initial(), {}))
          : showNone(request),
      screenOperation(PUBLIC),
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
      { ...formBody(), ...screenOperation(PUBLIC) },
    )
    .get(
      SENT_PATH,
      async ({ request }) =>
        render.plain(request, { title: "Check your e-mail", children: <ForgotSent /> }),
      screenOperation(PUBLIC),
    );
}

function tooManyText(seconds: number): string {
  const wait = plural(Math.ceil((seconds * SECOND_MS) / MINUTE_MS), "minute");
  return `Too many links were asked for. Try again in ${wait}.`;
}

/** Form for a forgotten password. */
const FORGOT_FORM = defineForm<{ email: string }>()({
  email: textField({
    label: "E-mail",
    type: "email",
    autocomplete: "username",
    isRequired: true,
    autofocus: true,
  }),
});

/** Asks for the e-mail of a user who forgot the password. */
function Forgot({ state }: { state: StateOf<typeof FORGOT_FORM> }) {
  return (
    <>
      <p class="muted">
        You get a link by e-mail with which you choose a new password. Your current password works
        until then.
      </p>
      <Form action={FORGOT_PATH}>
        <FormFields form={FORGOT_FORM} state={state} />
        <Actions>
          <Button kind="primary">Send link</Button>
          <ButtonLink href={SIGN_IN_PATH}>Back to sign in</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** Page after the form, which is the same for every address. */
function ForgotSent() {
  return (
    <>
      <p>
        If a user signs in with this address, a mail is on its way. Open its link within an hour.
      </p>
      <p class="muted">
        At most three mails an hour are sent to a user. If none arrives, ask an owner for a reset
        link.
      </p>
      <Actions>
        <ButtonLink href={SIGN_IN_PATH}>Back to sign in</ButtonLink>
      </Actions>
    </>
  );
}

/** Page in place of the form while no mail can be sent, or an owner has turned it off. */
function NoForgot() {
  return (
    <>
      <p>Allclear sends no links for new passwords by e-mail.</p>
      <p class="muted">
        Ask an owner for a reset link (Settings → Users), or run{" "}
        <code>allclear user reset-password</code> on the server.
      </p>
      <Actions>
        <ButtonLink href={SIGN_IN_PATH}>Back to sign in</ButtonLink>
      </Actions>
    </>
  );
}
