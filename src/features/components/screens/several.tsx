import { plural } from "../../../base/text";
import type { Ctx } from "../../../context";
import { Button } from "../../../ui/buttons";
import type { Area } from "../../../ui/screens/area";
import { FormScreen } from "../../../ui/screens/form-screen";
import { createComponent, nextPosition } from "../components";
import { listComponentsOfPage, listGroups } from "../store";
import { componentCrumbs, listPathOf, SEVERAL_PATH } from "./component-paths";
import { SEVERAL_FORM } from "./forms";
import { readPageOfNew } from "./read";

/** Adds the form that creates several components of a page in one transaction. */
export function addSeveral(area: Area, ctx: Ctx): void {
  area.form("/several", {
    role: "admin",
    form: SEVERAL_FORM,
    initial: ({ query }) => ({ group_id: query["group"] ?? "" }),
    load(reader, at) {
      const { page } = readPageOfNew(reader, at);
      return { page, groups: listGroups(reader, { pageId: page.id }) };
    },
    show(state) {
      const { page } = state.context;
      const title = "Add several components";
      return {
        title,
        children: (
          <FormScreen
            title={title}
            crumbs={componentCrumbs(page)}
            form={SEVERAL_FORM}
            state={{ ...state, hidden: { ...state.hidden, page: page.id } }}
            action={SEVERAL_PATH}
          >
            <Button kind="primary">Add components</Button>
          </FormScreen>
        ),
      };
    },
    submit(tx, { name: names = [], group_id: groupId = null }, actor, _, { page }) {
      const first = nextPosition(listComponentsOfPage(tx, { pageId: page.id }));
      const ids = names.map((name, index) => {
        const placement = { position: first + index, groupId, managedBy: null };
        return createComponent(ctx, tx, page, { name }, placement, actor).id;
      });
      return ids[0] ?? page.id;
    },
    done: (id, at, values) => {
      const count = values.name.split("\n").filter((line) => line.trim() !== "").length;
      const path = listPathOf(readPageOfNew(ctx.db, at).page.slug, id);
      return { path, text: `${plural(count, "component")} ${count === 1 ? "was" : "were"} added.` };
    },
  });
}
