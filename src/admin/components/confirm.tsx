import { DialogForm } from "../../ui";
import { componentPath, groupPath } from "../paths";

interface QuestionProps {
  title: string;
  id: string;
}

/** Says what goes with a component, and what stays. */
export function DeleteComponent({ title, id }: QuestionProps) {
  const path = componentPath(id);
  return (
    <DialogForm
      title={title}
      action={`${path}/delete`}
      button="Delete component"
      isDanger
      cancelHref={path}
    >
      <p>
        It disappears from the page at once, with its days and its uptime, and the API no longer
        knows it. Incidents that name it go on naming it. This cannot be undone.
      </p>
    </DialogForm>
  );
}

/** Says that a group's components stay. */
export function DeleteGroup({ title, id }: QuestionProps) {
  const path = groupPath(id);
  return (
    <DialogForm
      title={title}
      action={`${path}/delete`}
      button="Delete group"
      isDanger
      cancelHref={path}
    >
      <p>Its components stay on the page, without a group. This cannot be undone.</p>
    </DialogForm>
  );
}
