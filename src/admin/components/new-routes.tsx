import { Elysia } from "elysia";
import {
  createComponent,
  listComponentsOfPage,
  listGroups,
  nextPosition,
} from "../../features/components";
import { getPage } from "../../features/pages";
import { actorOf, formBody, seeOther, session } from "../../http";
import { createDone } from "../done";
import { complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { COMPONENTS_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { placeInList } from "./component-paths";
import {
  toComponent,
  type ComponentValues,
  emptyComponent,
  readComponent,
} from "./component-values";
import { NewComponent } from "./new-component";
import { readPage } from "./read";

/** Routes that add a component to a page, below `/admin/components`. */
export function newComponentRoutes({
  ctx,
  requestContexts,
  render,
  flashes,
  writeOnceAs,
}: AdminDependencies) {
  const done = createDone(flashes);
  const MAY_ARRANGE = session("admin");

  function showForm(
    at: ScreenRequest,
    asked: string | undefined,
    values: ComponentValues,
    complaints = NO_COMPLAINTS,
  ) {
    const page = readPage(ctx.db, asked);
    if (!page) return seeOther(COMPONENTS_PATH);
    const groups = listGroups(ctx.db, { pageId: page.id });
    const form = { page, groups, values, complaints, formToken: newFormToken(ctx) };
    return render.screen(at, {
      title: "Add component",
      status: statusOf(complaints),
      children: <NewComponent {...form} />,
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/new",
      async ({ request, requestContext, query }) =>
        showForm({ request, requestContext }, query["page"], emptyComponent(query["group"] ?? "")),
      screenOperation("The form for a new component", MAY_ARRANGE),
    )
    .post(
      "/new",
      async ({ request, requestContext, body: form }) => {
        const values = readComponent(form);
        const pageId = form.text("page");
        const { groupId, ...input } = toComponent(values);
        try {
          const { subjectId: id } = await writeOnceAs(requestContext, form, (tx) => {
            const page = getPage(tx, pageId);
            const position = nextPosition(listComponentsOfPage(tx, { pageId }));
            const at = { position, groupId, managedBy: null };
            const made = createComponent(ctx, tx, page, input, at, actorOf(requestContext));
            return { made, subjectId: made.id };
          });
          const { slug } = getPage(ctx.db, pageId);
          return done(requestContext, placeInList(slug, id), `“${input.name}” was added.`);
        } catch (error) {
          const complaints = complaintsOrThrow(error);
          return showForm({ request, requestContext }, pageId, values, complaints);
        }
      },
      { ...formBody(), ...screenOperation("Add a component", MAY_ARRANGE) },
    );
}
