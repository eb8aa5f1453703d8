import { Elysia } from "elysia";
import { conflict } from "../../errors";
import { isSecure, startSession } from "../../features/auth";
import { readPublicAddress, setPublicAddress } from "../../features/settings";
import { actorOf, formBody, session, sessionCookie, sessionOf } from "../../http";
import { sessionOriginOf } from "../device";
import { createDone } from "../done";
import { complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import type { AdminDependencies } from "../dependencies";
import { GENERAL_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { General } from "./general";

/** Settings → General: for owners. */
export function generalAdminRoutes({
  ctx,
  requestContexts,
  render,
  flashes,
  writeAs,
}: AdminDependencies) {
  const done = createDone(flashes);
  const MAY_MANAGE = session("owner");
  const isFixed = ctx.config.baseUrl !== undefined;

  function show(at: ScreenRequest, address: string, complaints = NO_COMPLAINTS) {
    return render.screen(at, {
      title: "General",
      status: statusOf(complaints),
      children: <General address={address} complaints={complaints} isFixed={isFixed} />,
    });
  }

  return new Elysia({ prefix: GENERAL_PATH })
    .use(requestContexts.plugin)
    .get(
      "",
      async ({ request, requestContext }) => show({ request, requestContext }, ctx.baseUrl),
      screenOperation("The settings of the installation", MAY_MANAGE),
    )
    .post(
      "",
      async ({ request, requestContext, body: form }) => {
        if (isFixed)
          throw conflict("The public address is set by --base-url or ALLCLEAR_BASE_URL.");
        const address = form.text("public_address").trim();
        try {
          const { cookie, isChanged } = await writeAs(requestContext, (tx) => {
            const before = readPublicAddress(tx);
            const baseUrl = setPublicAddress(ctx, tx, address, actorOf(requestContext));
            const isChanged = baseUrl !== before;
            if (isSecure(baseUrl) === isSecure(ctx.baseUrl)) return { isChanged };
            // All sessions end with this. Who made the change stays signed in, where the new cookie is kept.
            const { user } = sessionOf(requestContext);
            const origin = sessionOriginOf(request, requestContext);
            const token = startSession({ ...ctx, baseUrl }, tx, user.id, origin);
            return { isChanged, cookie: sessionCookie({ baseUrl }, token) };
          });
          const text = isChanged ? "The public address was changed." : undefined;
          const answer = done(requestContext, GENERAL_PATH, text);
          if (cookie !== undefined) answer.headers.set("Set-Cookie", cookie);
          return answer;
        } catch (error) {
          return show({ request, requestContext }, address, complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...screenOperation("Change the public address", MAY_MANAGE) },
    );
}
