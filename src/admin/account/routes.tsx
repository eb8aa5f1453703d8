import type { FieldError } from "../../base/errors";
import { listSessionsOf } from "../../features/auth/sessions";
import { passwordError } from "../../features/auth/passwords";
import {
  authenticate,
  changePassword,
  endOneSession,
  endSessions,
} from "../../features/users/sign-in";
import { getUser, renameUser } from "../../features/users/service";
import { readPreferences, setKeyWarnings } from "../../features/users/key-warnings";
import { actorOf, type RequestContext, sessionOf } from "../../http/request-context";
import { formBody } from "../../http/form-body";
import { readTheme, themeCookie, themeOf } from "../../http/cookies";
import { seeOther } from "../../http/answers";
import { session } from "../../http/operation";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { waitText } from "../entry/sign-in";
import type { StateOf } from "../../ui/forms/form";
import { ACCOUNT_PATH, GENERAL_PATH } from "../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../ui/frame/render";
import { screenOperation } from "../../ui/screens/routes";
import { createArea } from "../../ui/screens/area";
import { Account, MAIL_FORM, NAME_FORM, PASSWORD_FORM } from "./account";

/** States of the forms. A form without a state shows the stored values. */
interface States {
  name?: StateOf<typeof NAME_FORM>;
  password?: StateOf<typeof PASSWORD_FORM>;
  mail?: StateOf<typeof MAIL_FORM>;
}

/** Settings → Account. */
export function accountAdminRoutes(deps: AdminDependencies) {
  const { ctx, flashes, render, passwords, throttle, writeAs } = deps;
  const area = createArea(deps, ACCOUNT_PATH, "viewer");

  function account({ request, requestContext }: ScreenRequest, states: States = {}): Screen {
    const { id, user } = sessionOf(requestContext);
    const now = ctx.clock.now();
    const stored = getUser(ctx.db, user.id);
    const {
      name = NAME_FORM.state(NAME_FORM.stored(stored), {}),
      password = PASSWORD_FORM.state(PASSWORD_FORM.initial(), {}),
      mail = MAIL_FORM.state(MAIL_FORM.stored(readPreferences(ctx.db, user.id)), {}),
    } = states;
    const sessions = listSessionsOf(ctx.db, user.id, now);
    const theme = readTheme(request);
    const forms = { name, password, mail };
    const page = { user: stored, ...forms, theme, sessions, currentSessionId: id, now };
    return { title: "Account", children: <Account {...page} /> };
  }

  /** Returns the errors of a new password, and of the current one if the new one is allowed. */
  async function passwordErrors(
    requestContext: RequestContext,
    { current_password, new_password }: { current_password: string; new_password: string },
  ): Promise<FieldError[]> {
    const detail = passwordError(new_password, sessionOf(requestContext).user.email);
    if (detail !== undefined) return [{ pointer: "#/new_password", detail }];
    const wrong = await currentPasswordError(requestContext, current_password);
    return wrong === undefined ? [] : [{ pointer: "#/current_password", detail: wrong }];
  }

  /**
   * Returns the error of the typed current password; undefined if the password is right. Attempts
   * are throttled by client address.
   */
  async function currentPasswordError(
    requestContext: RequestContext,
    password: string,
  ): Promise<string | undefined> {
    const { address } = requestContext;
    const { email } = sessionOf(requestContext).user;
    const seconds = throttle.takeAttempt(address);
    if (seconds > 0) return waitText(seconds);
    const credentials = { email, password };
    const outcome = await authenticate(ctx, { passwords, throttle }, credentials, address);
    if (!("rejection" in outcome)) return undefined;
    return outcome.rejection === "wrong" ? "is wrong" : waitText(outcome.seconds);
  }

  area.screen("", "Show the account of the user", (at) => account(at));

  area.editForm("/name", {
    showSummary: "Redirect to the account",
    summary: "Change the name of the user",
    form: NAME_FORM,
    back: () => ACCOUNT_PATH,
    load: (reader, { requestContext }) => ({
      resource: getUser(reader, sessionOf(requestContext).user.id),
      version: null,
      context: {},
    }),
    show: (name, at) => account(at, { name }),
    update(tx, { name = "" }, actor, { requestContext }) {
      renameUser(ctx, tx, sessionOf(requestContext).user.id, name, actor);
    },
    done: () => ({ path: ACCOUNT_PATH, text: "Your name was changed." }),
  });

  area.screen("/password", "Redirect to the account", () => ({ path: ACCOUNT_PATH }));

  // The password is hashed between reading the form and the transaction, which no helper does.
  area.routes.post(
    "/password",
    async ({ request, requestContext, body: sent }) => {
      const at = { request, requestContext };
      const values = PASSWORD_FORM.read(sent);
      const errors = await passwordErrors(requestContext, values);
      if (errors.length > 0) {
        const password = PASSWORD_FORM.rejected(values, errors, {});
        return render.screen(at, { ...account(at, { password }), status: 422 });
      }
      const { id, user } = sessionOf(requestContext);
      const passwordHash = await passwords.hash(values.new_password);
      const change = { userId: user.id, passwordHash, keepSessionId: id };
      await writeAs(requestContext, (tx) =>
        changePassword(ctx, tx, change, actorOf(requestContext)),
      );
      const text = "Your password was changed. All your other sessions have ended.";
      return flashes.redirect(id, ACCOUNT_PATH, text);
    },
    { ...formBody(), ...screenOperation("Change the password of the user", session("viewer")) },
  );

  area.editForm("/mail", {
    showSummary: "Redirect to the account",
    summary: "Change which e-mails the user gets",
    form: MAIL_FORM,
    back: () => ACCOUNT_PATH,
    load: (reader, { requestContext }) => ({
      resource: readPreferences(reader, sessionOf(requestContext).user.id),
      version: null,
      context: {},
    }),
    show: (mail, at) => account(at, { mail }),
    update(tx, { key_warnings = true }, actor, { requestContext }) {
      setKeyWarnings(ctx, tx, sessionOf(requestContext).user.id, key_warnings, actor);
    },
    done: () => ({ path: ACCOUNT_PATH, text: "Your e-mail settings were saved." }),
  });

  area.screen("/theme", "Redirect to the account", () => ({ path: ACCOUNT_PATH }));

  // Stored by the browser, so that the sign-in screen has the theme too.
  area.routes.post(
    "/theme",
    async ({ body: sent }) => {
      const back = sent.text("back") === "general" ? GENERAL_PATH : ACCOUNT_PATH;
      const theme = themeOf(sent.text("theme"));
      return seeOther(back, theme ? { "Set-Cookie": themeCookie(ctx, theme) } : {});
    },
    { ...formBody(), ...screenOperation("Choose the theme of the browser", session("viewer")) },
  );

  area.action("/sessions/end", {
    summary: "End a session of the user",
    run(tx, { requestContext, sent }, actor) {
      const { user } = sessionOf(requestContext);
      return endOneSession(ctx, tx, user.id, Number(sent.text("session")), actor);
    },
    done: (hasEnded) => ({
      path: ACCOUNT_PATH,
      text: hasEnded ? "The session has ended." : "That session had already ended.",
    }),
  });

  area.action("/sessions/end-others", {
    summary: "End all other sessions of the user",
    run(tx, { requestContext }, actor) {
      const { id, user } = sessionOf(requestContext);
      endSessions(ctx, tx, user.id, actor, id);
    },
    done: () => ({ path: ACCOUNT_PATH, text: "All your other sessions have ended." }),
  });

  return area.routes;
}
