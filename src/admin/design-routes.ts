import { Elysia } from "elysia";
import { operation, sendHtml, session } from "../http";
import { renderDesign } from "./design";
import { type AdminParts, screen } from "./parts";

/** `/admin/_design`: what the screens are made of, for those who work on them. */
export function designScreen({ ctx, admissions, screens }: AdminParts) {
  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/admin/_design",
      async ({ request }) =>
        sendHtml(request, renderDesign(await screens.assets(), ctx.clock.now())),
      operation(screen("Every component in every state", session("viewer"))),
    );
}
