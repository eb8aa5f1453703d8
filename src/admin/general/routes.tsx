import { Elysia } from "elysia";
import { conflict, type FieldError } from "../../errors";
import { endSession, isHttps, startSession } from "../../features/auth";
import {
  readPublicAddress,
  setPublicAddress,
  validatePublicAddress,
} from "../../features/settings";
import { actorOf, formBody, session, sessionCookie, sessionOf } from "../../http";
import { sessionOriginOf } from "../browser";
import type { AdminDependencies } from "../dependencies";
import { GENERAL_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { ADDRESS_FORM, General } from "./general";

/** Settings → General: for owners. */
export function generalAdminRoutes({
  ctx,
  requestContexts,
  render,
  flashes,
  sessions,
  writeAs,
}: AdminDependencies) {
  const MAY_MANAGE = session("owner");
  const isFixed = ctx.config.baseUrl !== undefined;

  function show(at: ScreenRequest, address: string, errors: readonly FieldError[] = []) {
    const state = ADDRESS_FORM.rejected({ public_address: address }, errors, {});
    return render.screen(at, {
      title: "General",
      status: errors.length > 0 ? 422 : 200,
      children: <General state={state} isFixed={isFixed} />,
    });
  }

  return new Elysia({ prefix: GENERAL_PATH })
    .use(requestContexts.plugin)
    .get(
      "",
      async ({ request, requestContext }) => show({ request, requestContext }, ctx.baseUrl),
      screenOperation("Show the settings of the installation", MAY_MANAGE),
    )
    .post(
      "",
      async ({ request, requestContext, body: form }) => {
        if (isFixed)
          throw conflict("The public address is set by --base-url or ALLCLEAR_BASE_URL.");
        const address = form.text("public_address").trim();
        const errors = validatePublicAddress(address);
        if (errors.length > 0) return show({ request, requestContext }, address, errors);
        const { id, user } = sessionOf(requestContext);
        const { isChanged, token } = await writeAs(requestContext, (tx) => {
          const before = readPublicAddress(tx);
          const baseUrl = setPublicAddress(ctx, tx, address, actorOf(requestContext));
          const isChanged = baseUrl !== before;
          if (isHttps(baseUrl) === isHttps(ctx.baseUrl)) return { isChanged };
          // The change ends all sessions. Its author gets a new one; reverting the change does not
          // restore the old one.
          endSession(tx, user.id, id);
          const origin = sessionOriginOf(request, requestContext);
          return { isChanged, token: startSession({ ...ctx, baseUrl }, tx, user.id, origin) };
        });
        const current = token === undefined ? undefined : sessions.find(token, ctx.clock.now());
        const text = isChanged ? "The public address was changed." : undefined;
        const answer = flashes.redirect(current?.id ?? id, GENERAL_PATH, text);
        if (token !== undefined) answer.headers.set("Set-Cookie", sessionCookie(ctx, token));
        return answer;
      },
      { ...formBody(), ...screenOperation("Change the public address", MAY_MANAGE) },
    );
}
