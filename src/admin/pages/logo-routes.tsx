import { Elysia } from "elysia";
import { invalidFields } from "../../errors";
import { deleteLogo, getPage, putLogo } from "../../features/pages";
import { actorOf, formBody, session } from "../../http";
import { backToOne } from "../back-to";
import { createDone } from "../done";
import type { AdminParts } from "../parts";
import { screenOperation } from "../screen-operation";
import { refusalOrThrow } from "../stale";
import { pageTabPath } from "./frame";
import type { ShowPage } from "./screens";

const NO_FILE = "needs a file: choose one, then upload it";

/** A page's own logo: for admins. */
export function pageLogoRoutes(parts: AdminParts, showPage: ShowPage) {
  const { ctx, admissions, writeAs } = parts;
  const done = createDone(parts.flashes);
  const MAY_MANAGE = session("admin");

  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/:id/logo",
      backToOne((id) => pageTabPath(id, "look")),
      screenOperation("The page whose logo was refused", MAY_MANAGE),
    )
    .post(
      "/:id/logo",
      async ({ request, admission, params: { id }, body: form }) => {
        const file = form.file("logo");
        try {
          await writeAs(admission, (tx) => {
            if (!file) throw invalidFields([{ pointer: "#/logo", detail: NO_FILE }]);
            return putLogo(ctx, tx, id, { bytes: file.bytes }, actorOf(admission));
          });
        } catch (error) {
          const refusal = refusalOrThrow(error);
          return showPage({ request, admission }, id, "look", { values: {}, refusal });
        }
        return done(admission, pageTabPath(id, "look"), "The logo was changed.");
      },
      { ...formBody({ files: true }), ...screenOperation("Give a page a logo", MAY_MANAGE) },
    )
    .post(
      "/:id/logo/remove",
      async ({ admission, params: { id } }) => {
        const hadLogo = await writeAs(admission, (tx) => {
          const { logo } = getPage(tx, id);
          if (logo !== null) deleteLogo(ctx, tx, id, actorOf(admission));
          return logo !== null;
        });
        const text = hadLogo ? "The logo was removed." : undefined;
        return done(admission, pageTabPath(id, "look"), text);
      },
      { ...formBody(), ...screenOperation("Remove a page's logo", MAY_MANAGE) },
    );
}
