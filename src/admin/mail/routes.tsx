import { beginTestMail } from "../../features/mail/test-mail";
import {
  mailReadiness,
  mailSetters,
  readMailSettings,
  readStoredMailSettings,
  removeMailSettings,
  setMailSettings,
} from "../../features/mail/settings";
import { readDelivery } from "../../features/mail/delivery";
import { actorOf, sessionOf } from "../../http/request-context";
import { formBody } from "../../http/form-body";
import { seeOther } from "../../http/answers";
import { session } from "../../http/operation";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import type { StateOf } from "../../ui/forms/form";
import { MAIL_PATH } from "../../ui/frame/paths";
import type { Screen, ScreenRequest } from "../../ui/frame/render";
import { screenOperation } from "../../ui/screens/routes";
import { createArea } from "../../ui/screens/area";
import { newFormToken } from "../../ui/frame/write-as";
import type { TestOutcome } from "./cards";
import { MAIL_FORM, shownSettings } from "./forms";
import { Mail, RemoveRelay } from "./mail";
import { addReturnRoutes, foundAddress } from "./return-routes";

/** Mail settings, for owners. */
export function mailAdminRoutes(deps: AdminDependencies) {
  const { ctx, egress, render, writeAs } = deps;
  const area = createArea(deps, MAIL_PATH, "owner");
  const access = session("owner");

  function screen(
    { requestContext }: ScreenRequest,
    form: StateOf<typeof MAIL_FORM>,
    test?: TestOutcome,
  ): Screen {
    const { email } = sessionOf(requestContext).user;
    const shown = {
      readiness: mailReadiness(ctx),
      settings: readMailSettings(ctx),
      delivery: readDelivery(ctx.db),
      now: ctx.clock.now(),
    };
    const setters = mailSetters(ctx.config);
    const props = { ...shown, setters, form, address: email, test };
    return { title: "Mail settings", children: <Mail {...props} /> };
  }

  function contextOf() {
    return { hasPassword: (readStoredMailSettings(ctx.db)?.password ?? null) !== null };
  }

  function initial() {
    const stored = readStoredMailSettings(ctx.db);
    return stored ? shownSettings(stored) : MAIL_FORM.initial();
  }

  area.form("", {
    showSummary: "Show the mail settings",
    summary: "Change the mail settings",
    form: MAIL_FORM,
    load: () => contextOf(),
    initial,
    show: (state, at) => screen(at, state),
    submit(tx, input, actor) {
      setMailSettings(ctx, tx, input, actor);
      return "mail";
    },
    done: () => ({ path: MAIL_PATH, text: "The mail settings were saved." }),
  });

  area.confirmation("/remove", {
    showSummary: "Show the confirmation for removing the relay",
    summary: "Remove the relay",
    show() {
      const stored = readStoredMailSettings(ctx.db);
      if (!stored || mailSetters(ctx.config).length > 0) return { path: MAIL_PATH };
      return { title: "Remove relay", children: <RemoveRelay host={stored.host} /> };
    },
    run: (tx, _at, actor) => removeMailSettings(ctx, tx, actor),
    done: (isChanged) => ({
      path: MAIL_PATH,
      text: isChanged ? "The relay was removed." : undefined,
    }),
  });

  addReturnRoutes(area, deps);

  return area.routes
    .post(
      "/suppressions",
      async ({ request, requestContext, body }) =>
        render.screen({ request, requestContext }, foundAddress(ctx, body)),
      {
        ...formBody(),
        ...screenOperation("Find an address among the suppressed ones", access),
      },
    )
    .get(
      "/test",
      () => seeOther(MAIL_PATH),
      screenOperation("Redirect to the mail settings", access),
    )
    .post(
      "/test",
      async ({ request, requestContext }) => {
        const at = { request, requestContext };
        const { email } = sessionOf(requestContext).user;
        const begun = await writeAs(requestContext, (tx) =>
          beginTestMail(ctx, tx, email, actorOf(requestContext)),
        );
        const { sendTestMail } = await import("../../features/mail/smtp/send-test-mail");
        const result = await sendTestMail(ctx, egress, begun);
        const form = MAIL_FORM.state(initial(), contextOf(), { form: newFormToken(ctx) });
        return render.screen(at, screen(at, form, { result, address: begun.to.address }));
      },
      { ...formBody(), ...screenOperation("Send a test mail", access) },
    );
}
