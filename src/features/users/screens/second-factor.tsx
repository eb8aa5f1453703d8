/*
 * Account → Second factor: setting it up, new recovery codes, and turning it off. The secret of a new one is in the form until
 * a code has shown that the app has it.
 */
import { encode } from "uqr";
import type { Actor } from "../../../base/actor";
import type { FieldError } from "../../../base/errors";
import { MINUTE_MS, toIso } from "../../../base/time";
import type { Tx } from "../../../db/statements";
import { seeOther } from "../../../http/answers";
import { SECOND_FACTOR_PATH } from "../../../http/caller";
import { sessionCookie } from "../../../http/cookies";
import { formBody } from "../../../http/form-body";
import { SECOND_FACTOR_SET_UP, session } from "../../../http/operation";
import { actorOf, sessionOf } from "../../../http/request-context";
import { CodeBlock, Notice, State } from "../../../ui/blocks";
import { Button, ButtonLink, PostButton } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import { FormFields } from "../../../ui/forms/fields";
import { defineForm, type StateOf } from "../../../ui/forms/form";
import { sessionOriginOf } from "../../../ui/frame/browser";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { ACCOUNT_PATH, SIGN_OUT_PATH } from "../../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { PageHead } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { type DialogTexts, formScreen } from "../../../ui/screens/form-screen";
import { screenOperation } from "../../../ui/screens/routes";
import { RelativeTime } from "../../../ui/times";
import { codeError } from "../../auth/screens/code";
import { safeReturnPath } from "../../auth/screens/refused-form";
import type { LiveSession } from "../../auth/sessions";
import { createSecret, inGroups, keyUri, readSecret, RECOVERY_CODES } from "../../auth/totp";
import { canUsePassword, readCode, type TypedCode } from "../rules";
import {
  type CodeRejection,
  readSecondFactor,
  replaceRecoveryCodes,
  type SecondFactor,
  turnOffSecondFactor,
  turnOnSecondFactor,
} from "../second-factors";
import { openSession } from "../sign-in";
import { getUser } from "../users";
import {
  codeField,
  codeFieldError,
  type Confirmation,
  confirmingCodeField,
  currentPasswordField,
} from "./confirming";

/** Time after signing in with a password for which setting up a second factor does not ask for it again. */
const FRESH_PASSWORD_MS = 10 * MINUTE_MS;

interface SetUpContext {
  /** False for a session that can only set up a second factor and has just begun with the password. */
  needsPassword: boolean;
}

const SECOND_FACTOR_FORM = defineForm<{ code: string; password: string }, SetUpContext>()({
  code: codeField("The six digits that the app shows now.", "numeric"),
  password: {
    ...currentPasswordField,
    Input: (props) =>
      props.context.needsPassword ? <currentPasswordField.Input {...props} /> : null,
  },
});

const CONFIRM_FORM = defineForm<{ code: string; password: string }>()({
  code: confirmingCodeField,
  password: currentPasswordField,
});

/** Adds the screens of the user's own second factor to those of the account. */
export function addSecondFactorRoutes(
  area: Area,
  { ctx, flashes, render, writeAs }: AdminDependencies,
  { currentPasswordError, confirmPasswordAndCode }: Confirmation,
): void {
  function needsPassword({ isForSetUpOnly, createdAt }: LiveSession): boolean {
    return !isForSetUpOnly || ctx.clock.now() - createdAt >= FRESH_PASSWORD_MS;
  }

  /** Returns true if the user of a session can set up a second factor: it follows a password. */
  function canSetUp({ user, isForSetUpOnly }: LiveSession): boolean {
    if (readSecondFactor(ctx.db, user.id)) return false;
    const hasPassword = getUser(ctx.db, user.id).has_password && canUsePassword(ctx.config, user);
    return isForSetUpOnly || hasPassword;
  }

  function showSetUp(
    { request, requestContext }: ScreenRequest,
    form: { secret: string; next: string; state: StateOf<typeof SECOND_FACTOR_FORM> },
    status = 200,
  ) {
    const { user, isForSetUpOnly } = sessionOf(requestContext);
    const host = new URL(ctx.baseUrl).hostname;
    const uri = keyUri({ secret: form.secret, email: user.email, host });
    const page = { ...form, uri, isForSetUpOnly };
    return showAlone({ request, requestContext }, "Set up second factor", isForSetUpOnly, {
      status,
      children: <SecondFactorSetUp {...page} />,
    });
  }

  /** Shows a screen with a secret, without navigation to a session that can open nothing else. */
  function showAlone(
    at: ScreenRequest,
    title: string,
    isPlain: boolean,
    shown: Pick<Screen, "status" | "headers" | "children">,
  ) {
    const { children, ...response } = shown;
    if (isPlain) return render.plain(at.request, { title, isSecret: true, ...shown });
    return render.screen(at, {
      title,
      isSecret: true,
      ...response,
      children: (
        <>
          <PageHead title={title} crumbs={CRUMBS} />
          {children}
        </>
      ),
    });
  }

  function showRecoveryCodes(
    at: ScreenRequest,
    { codes, next, token }: { codes: readonly string[]; next: string; token?: string | undefined },
  ) {
    return showAlone(at, "Recovery codes", token !== undefined, {
      ...(token === undefined ? {} : { headers: { "Set-Cookie": sessionCookie(ctx, token) } }),
      children: <RecoveryCodes codes={codes} next={next} />,
    });
  }

  area.routes.get(
    "/second-factor",
    async ({ request, requestContext, query }) => {
      const next = returnPath(query["next"]);
      const current = sessionOf(requestContext);
      if (!canSetUp(current)) return seeOther(next);
      const context = { needsPassword: needsPassword(current) };
      const state = SECOND_FACTOR_FORM.state(SECOND_FACTOR_FORM.initial(), context);
      const form = { secret: createSecret(ctx.random), next, state };
      return showSetUp({ request, requestContext }, form);
    },
    screenOperation(SECOND_FACTOR_SET_UP),
  );

  area.routes.post(
    "/second-factor",
    async ({ request, requestContext, body: sent }) => {
      const at = { request, requestContext };
      const next = returnPath(sent.text("next"));
      const secret = sent.text("secret");
      const current = sessionOf(requestContext);
      if (!canSetUp(current) || !readSecret(secret)) return seeOther(SECOND_FACTOR_PATH);
      const values = SECOND_FACTOR_FORM.read(sent);
      const context = { needsPassword: needsPassword(current) };
      const reject = (errors: readonly FieldError[]) => {
        const state = SECOND_FACTOR_FORM.rejected(SECOND_FACTOR_FORM.initial(), errors, context);
        return showSetUp(at, { secret, next, state }, 422);
      };
      const typed = readCode(values.code);
      if (!typed || !("code" in typed))
        return reject([codeFieldError("must be the six digits of the app")]);
      if (context.needsPassword) {
        const detail = await currentPasswordError(requestContext, values.password);
        if (detail !== undefined) return reject([{ pointer: "#/password", detail }]);
      }
      const { id, user, isForSetUpOnly } = current;
      const outcome = await writeAs(requestContext, (tx) => {
        const change = { userId: user.id, secret, code: typed.code };
        const codes = turnOnSecondFactor(ctx, tx, change, actorOf(requestContext), id);
        if ("rejection" in codes || !isForSetUpOnly) return { codes };
        // The session can do more from now on, so that its earlier token ends.
        const origin = sessionOriginOf(request, requestContext);
        return { codes, token: openSession(ctx, tx, user.id, origin, current) };
      });
      const { codes, token } = outcome;
      if ("rejection" in codes) return reject([codeFieldError(WRONG)]);
      return showRecoveryCodes(at, { codes, next, token });
    },
    { ...formBody(), ...screenOperation(SECOND_FACTOR_SET_UP) },
  );

  /** Adds an action that needs the password and a code. `done` gets the recovery codes that it made. */
  function addConfirmed(
    path: string,
    texts: Omit<DialogTexts, "cancelHref">,
    run: (
      tx: Tx,
      confirmed: { userId: string; typed: TypedCode },
      actor: Actor,
    ) => readonly string[] | CodeRejection | undefined,
    done: (at: ScreenRequest, codes: readonly string[]) => Response | Promise<Response>,
  ): void {
    const action = `${SECOND_FACTOR_PATH}${path}`;
    const show = (at: ScreenRequest, state: StateOf<typeof CONFIRM_FORM>, status = 200) => {
      const shown = { form: CONFIRM_FORM, state, action, hasPreview: false };
      return render.screen(at, {
        ...formScreen({ ...texts, cancelHref: ACCOUNT_PATH }, shown),
        status,
      });
    };
    area.routes.get(
      `/second-factor${path}`,
      async ({ request, requestContext }) => {
        const { user } = sessionOf(requestContext);
        if (!readSecondFactor(ctx.db, user.id)) return seeOther(ACCOUNT_PATH);
        const state = CONFIRM_FORM.state(CONFIRM_FORM.initial(), {});
        return show({ request, requestContext }, state);
      },
      screenOperation(session("viewer")),
    );
    area.routes.post(
      `/second-factor${path}`,
      async ({ request, requestContext, body: sent }) => {
        const at = { request, requestContext };
        const { user } = sessionOf(requestContext);
        if (!readSecondFactor(ctx.db, user.id)) return seeOther(ACCOUNT_PATH);
        const values = CONFIRM_FORM.read(sent);
        const reject = (error: FieldError) =>
          show(at, CONFIRM_FORM.rejected(CONFIRM_FORM.initial(), [error], {}), 422);
        const typed = await confirmPasswordAndCode(requestContext, { ...values, needsCode: true });
        if ("error" in typed) return reject(typed.error);
        const { code } = typed;
        const result = await writeAs(requestContext, (tx) =>
          run(tx, { userId: user.id, typed: code }, actorOf(requestContext)),
        );
        if (result && "rejection" in result) {
          return reject(codeFieldError(codeError(result, ctx.clock.now()).error));
        }
        return done(at, result ?? []);
      },
      { ...formBody(), ...screenOperation(session("viewer")) },
    );
  }

  addConfirmed(
    "/recovery-codes",
    {
      title: "Create recovery codes",
      button: "Create recovery codes",
      dialog: <p>Ten new codes are shown once. The earlier ones work no longer.</p>,
    },
    (tx, confirmed, actor) => replaceRecoveryCodes(ctx, tx, confirmed, actor),
    (at, codes) => showRecoveryCodes(at, { codes, next: ACCOUNT_PATH }),
  );

  addConfirmed(
    "/off",
    {
      title: "Turn off second factor",
      button: "Turn off second factor",
      isDanger: true,
      dialog: (
        <p>
          Your password alone signs you in then, and your recovery codes work no longer. If your
          role needs a second factor, you set up another one next.
        </p>
      ),
    },
    (tx, confirmed, actor) => turnOffSecondFactor(ctx, tx, confirmed, actor),
    ({ requestContext }) =>
      flashes.redirect(
        sessionOf(requestContext).id,
        ACCOUNT_PATH,
        "Your second factor was turned off.",
      ),
  );
}

const CRUMBS = [{ href: ACCOUNT_PATH, label: "Account" }];

const WRONG = "is wrong. Type the one that the app shows now, and check the clock of its device";

/** Returns the path to open after the set-up: the requested one if it is a screen, else the account. */
function returnPath(path: string | undefined): string {
  return path ? safeReturnPath(path) : ACCOUNT_PATH;
}

/** Picture and text of a new secret, and the form for the first code. */
function SecondFactorSetUp(props: {
  secret: string;
  /** URI with the secret, which the picture shows. */
  uri: string;
  next: string;
  isForSetUpOnly: boolean;
  state: StateOf<typeof SECOND_FACTOR_FORM>;
}) {
  const { secret, uri, next, isForSetUpOnly, state } = props;
  return (
    <>
      <p class="muted">
        {isForSetUpOnly ? "Your role needs a second factor. " : ""}
        An authenticator app on your phone shows a code, which changes every 30 seconds. Signing in
        with your password needs it from then on.
      </p>
      <Form action={SECOND_FACTOR_PATH} hidden={{ secret, next }}>
        <FormFields form={SECOND_FACTOR_FORM} state={state}>
          <div class="field">
            <p class="label">Scan this picture with the app</p>
            <QrCode text={uri} />
          </div>
          <div class="field">
            <p class="label">Or type this secret into it</p>
            <CodeBlock text={inGroups(secret, " ")} copyLabel="Copy secret" isSecret />
          </div>
        </FormFields>
        <Actions>
          <Button kind="primary">Turn on second factor</Button>
          {isForSetUpOnly ? null : <ButtonLink href={next}>Cancel</ButtonLink>}
        </Actions>
      </Form>
      {isForSetUpOnly ? <PostButton action={SIGN_OUT_PATH}>Sign out</PostButton> : null}
    </>
  );
}

/** Modules around the picture, which scanners need. */
const QUIET_ZONE = 4;

/** Text as a picture for cameras, dark on white in every theme. */
function QrCode({ text }: { text: string }) {
  const { size, data } = encode(text, { ecc: "M", border: QUIET_ZONE });
  const bars = data.flatMap((row, y) => {
    const dark = row.map((isDark) => (isDark ? "#" : " ")).join("");
    return Array.from(
      dark.matchAll(/#+/g),
      ({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`,
    );
  });
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the secret">
      <path class="qr-paper" d={`M0 0h${size}v${size}h-${size}z`} />
      <path d={bars.join("")} shape-rendering="crispEdges" />
    </svg>
  );
}

/** New recovery codes, which are not shown again. */
function RecoveryCodes({ codes, next }: { codes: readonly string[]; next: string }) {
  return (
    <>
      <Notice tone="degraded" title="These codes are shown only once">
        Keep them where you find them without your phone, such as in a password manager. Each signs
        you in once in the place of a code of the app.
      </Notice>
      <CodeBlock
        text={codes.map((code) => inGroups(code, "-")).join("\n")}
        copyLabel="Copy codes"
        isSecret
      />
      <Actions>
        <ButtonLink href={next} kind="primary">
          Continue
        </ButtonLink>
      </Actions>
    </>
  );
}

/** Card of the account with the state of the second factor. */
export function SecondFactorCard(props: {
  factor: SecondFactor | undefined;
  /** False for a user who signs in without a password. */
  hasPassword: boolean;
  now: number;
}) {
  const { factor, hasPassword, now } = props;
  return (
    <DetailCard title="Second factor" liveId="account-second-factor" isStill>
      {factor ? (
        <>
          <p>
            <State tone="ok">On</State>
          </p>
          <p class="detail-note">
            Turned on <RelativeTime at={toIso(factor.since)} now={now} />. {factor.recoveryCodes} of{" "}
            {RECOVERY_CODES} recovery codes are left.
          </p>
          <Actions>
            <ButtonLink href={`${SECOND_FACTOR_PATH}/recovery-codes`} dialog>
              Create recovery codes
            </ButtonLink>
            <ButtonLink href={`${SECOND_FACTOR_PATH}/off`} kind="danger" dialog>
              Turn off
            </ButtonLink>
          </Actions>
        </>
      ) : (
        <>
          <p>
            <State tone="none" isPaused>
              Off
            </State>
          </p>
          <p class="detail-note">
            {hasPassword
              ? "With it, signing in with your password also needs a code from an app on your phone."
              : "A second factor is only for sign-ins with a password. You sign in without one."}
          </p>
          {hasPassword ? (
            <Actions>
              <ButtonLink href={SECOND_FACTOR_PATH}>Set up second factor</ButtonLink>
            </Actions>
          ) : null}
        </>
      )}
    </DetailCard>
  );
}
