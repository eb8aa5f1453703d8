import {
  createGroup,
  deleteGroup,
  getGroupRow,
  listGroups,
  nextPosition,
  updateGroup,
} from "../../features/components";
import { getPage } from "../../features/pages";
import type { AdminDependencies } from "../dependencies";
import { componentsOfPagePath } from "../paths";
import { createArea } from "../screens/area";
import { placeInList } from "./component-paths";
import { GROUP_FORM } from "./forms";
import { DeleteGroup, GroupEdit, NewGroup } from "./group-screens";
import { readPageOfNew } from "./read";

/** Routes of groups of components, for admins. */
export function groupAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, "/groups", "admin");

  const slugOf = (groupId: string) => getPage(ctx.db, getGroupRow(ctx.db, groupId).pageId).slug;

  area.form("/new", {
    ask: "Show the form for a new group",
    summary: "Add a group",
    form: GROUP_FORM,
    load: readPageOfNew,
    show: (state) => ({
      title: "Add group",
      children: <NewGroup page={state.context.page} state={state} />,
    }),
    submit(tx, body, actor, _, { page }) {
      const position = nextPosition(listGroups(tx, { pageId: page.id }));
      return createGroup(ctx, tx, page, body, { position, managedBy: null }, actor).id;
    },
    done: (id, at, { name }) => ({
      path: placeInList(readPageOfNew(ctx.db, at).page.slug, id),
      text: `The group “${name.trim()}” was added.`,
    }),
  });

  area.editForm("/:id", {
    ask: "Show a group",
    summary: "Change a group",
    form: GROUP_FORM,
    load(reader, { params }) {
      const group = getGroupRow(reader, params.id);
      const context = { group, page: getPage(reader, group.pageId) };
      return { resource: group, version: group.version, context };
    },
    show: (state) => ({
      title: state.context.group.name,
      children: <GroupEdit {...state.context} state={state} />,
    }),
    update(tx, changes, actor, { params }) {
      updateGroup(ctx, tx, params.id, changes, actor);
    },
    done: ({ params }) => ({
      path: placeInList(slugOf(params.id), params.id),
      text: "The group was changed.",
    }),
  });

  area.deletion("/:id/delete", {
    ask: "Show the confirmation for deleting a group",
    summary: "Delete a group",
    show({ params }) {
      const group = getGroupRow(ctx.db, params.id);
      getPage(ctx.db, group.pageId); // Throws `not_found` for a deleted page.
      return { title: `Delete “${group.name}”`, children: <DeleteGroup group={group} /> };
    },
    remove(tx, { params }, actor) {
      const { name, pageId } = getGroupRow(tx, params.id);
      deleteGroup(ctx, tx, params.id, actor);
      return { name, subjectId: pageId };
    },
    done: (pageId, name) => ({
      path: componentsOfPagePath(getPage(ctx.db, pageId).slug),
      text: `${name === null ? "The group" : `The group “${name}”`} was deleted. Its components are now without a group.`,
    }),
  });

  return area.routes;
}
