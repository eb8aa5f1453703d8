import { Elysia } from "elysia";
import { sendHtml, session } from "../../http";
import { linkedAssets } from "../../ui";
import type { AdminDependencies } from "../dependencies";
import { screenOperation } from "../screen-operation";
import { renderDesign } from ".";

/** `/admin/_design`: gallery of the UI components, for developers. */
export function designAdminRoutes({ ctx, requestContexts }: AdminDependencies) {
  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/admin/_design",
      async ({ request }) => sendHtml(request, renderDesign(linkedAssets(), ctx.clock.now())),
      screenOperation("Every component in every state", session("viewer")),
    );
}
