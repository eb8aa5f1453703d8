import { Elysia } from "elysia";
import { invalidFields } from "../../errors";
import { deleteLogo, getPage, putLogo } from "../../features/pages";
import { actorOf, formBody, session } from "../../http";
import { redirectGetById } from "../redirect-get";
import { createDone } from "../done";
import type { AdminDependencies } from "../dependencies";
import { screenOperation } from "../screen-operation";
import { rejectionOrThrow } from "../stale";
import { pageTabPath } from "./frame";
import type { ShowPage } from "./screens";

const NO_FILE = "needs a file: choose one, then upload it";

/** Routes of a page's logo, for admins. */
export function pageLogoRoutes(deps: AdminDependencies, showPage: ShowPage) {
  const { ctx, requestContexts, writeAs } = deps;
  const done = createDone(deps.flashes);
  const MAY_MANAGE = session("admin");

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/logo",
      redirectGetById((id) => pageTabPath(id, "look")),
      screenOperation("The page whose logo was refused", MAY_MANAGE),
    )
    .post(
      "/:id/logo",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const file = form.file("logo");
        try {
          await writeAs(requestContext, (tx) => {
            if (!file) throw invalidFields([{ pointer: "#/logo", detail: NO_FILE }]);
            return putLogo(ctx, tx, id, { bytes: file.bytes }, actorOf(requestContext));
          });
        } catch (error) {
          const rejection = rejectionOrThrow(error);
          return showPage({ request, requestContext }, id, "look", { values: {}, rejection });
        }
        return done(requestContext, pageTabPath(id, "look"), "The logo was changed.");
      },
      { ...formBody({ files: true }), ...screenOperation("Give a page a logo", MAY_MANAGE) },
    )
    .post(
      "/:id/logo/remove",
      async ({ requestContext, params: { id } }) => {
        const hadLogo = await writeAs(requestContext, (tx) => {
          const { logo } = getPage(tx, id);
          if (logo !== null) deleteLogo(ctx, tx, id, actorOf(requestContext));
          return logo !== null;
        });
        const text = hadLogo ? "The logo was removed." : undefined;
        return done(requestContext, pageTabPath(id, "look"), text);
      },
      { ...formBody(), ...screenOperation("Remove a page's logo", MAY_MANAGE) },
    );
}
