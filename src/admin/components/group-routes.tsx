import { Elysia } from "elysia";
import {
  createGroup,
  getGroupRow,
  listGroups,
  nextPosition,
  updateGroup,
} from "../../features/components";
import { getPage } from "../../features/pages";
import { actorOf, formBody, seeOther, session } from "../../http";
import { createDone } from "../done";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { COMPONENTS_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { type FormRejection, rejectionOrThrow, requireSameVersion } from "../stale";
import { placeInList } from "./component-paths";
import { GroupEdit, NewGroup } from "./group-form";
import {
  toGroup,
  changesToGroup,
  EMPTY_GROUP,
  type GroupValues,
  readGroup,
  storedGroup,
} from "./group-values";
import { readPage } from "./read";

/** Routes that add and edit groups, below `/admin/components`. */
export function groupAdminRoutes({
  ctx,
  requestContexts,
  render,
  flashes,
  writeAs,
  writeOnceAs,
}: AdminDependencies) {
  const done = createDone(flashes);
  const MAY_ARRANGE = session("admin");

  function showNew(
    at: ScreenRequest,
    asked: string | undefined,
    values: GroupValues,
    rejection?: FormRejection,
  ) {
    const page = readPage(ctx.db, asked);
    if (!page) return seeOther(COMPONENTS_PATH);
    return render.screen(at, {
      title: "Add group",
      status: rejection?.status ?? 200,
      children: <NewGroup {...{ page, values, rejection, formToken: newFormToken(ctx) }} />,
    });
  }

  function showGroup(
    at: ScreenRequest,
    id: string,
    typed?: { values: GroupValues; rejection: FormRejection },
  ) {
    const group = getGroupRow(ctx.db, id);
    const page = getPage(ctx.db, group.pageId);
    const values = typed?.values ?? storedGroup(group);
    return render.screen(at, {
      title: group.name,
      status: typed?.rejection.status ?? 200,
      children: <GroupEdit {...{ group, page, values, rejection: typed?.rejection }} />,
    });
  }

  return new Elysia({ prefix: "/groups" })
    .use(requestContexts.plugin)
    .get(
      "/new",
      async ({ request, requestContext, query }) =>
        showNew({ request, requestContext }, query["page"], EMPTY_GROUP),
      screenOperation("The form for a new group", MAY_ARRANGE),
    )
    .post(
      "/new",
      async ({ request, requestContext, body: form }) => {
        const values = readGroup(form);
        const pageId = form.text("page");
        const input = toGroup(values);
        try {
          const { subjectId: id } = await writeOnceAs(requestContext, form, (tx) => {
            const page = getPage(tx, pageId);
            const position = nextPosition(listGroups(tx, { pageId }));
            const at = { position, managedBy: null };
            const made = createGroup(ctx, tx, page, input, at, actorOf(requestContext));
            return { made, subjectId: made.id };
          });
          const { slug } = getPage(ctx.db, pageId);
          return done(
            requestContext,
            placeInList(slug, id),
            `The group “${input.name}” was added.`,
          );
        } catch (error) {
          return showNew({ request, requestContext }, pageId, values, rejectionOrThrow(error));
        }
      },
      { ...formBody(), ...screenOperation("Add a group", MAY_ARRANGE) },
    )
    .get(
      "/:id",
      async ({ request, requestContext, params }) =>
        showGroup({ request, requestContext }, params.id),
      screenOperation("One group of components", MAY_ARRANGE),
    )
    .post(
      "/:id",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const values = readGroup(form);
        try {
          const { slug, isChanged } = await writeAs(requestContext, (tx) => {
            const row = getGroupRow(tx, id);
            const page = getPage(tx, row.pageId);
            const changes = changesToGroup(row, toGroup(values));
            if (Object.keys(changes).length === 0) return { slug: page.slug, isChanged: false };
            requireSameVersion(form, row);
            updateGroup(ctx, tx, id, changes, actorOf(requestContext));
            return { slug: page.slug, isChanged: true };
          });
          const text = isChanged ? "The group was changed." : undefined;
          return done(requestContext, placeInList(slug, id), text);
        } catch (error) {
          const rejection = rejectionOrThrow(error);
          return showGroup({ request, requestContext }, id, { values, rejection });
        }
      },
      { ...formBody(), ...screenOperation("Change a group", MAY_ARRANGE) },
    );
}
