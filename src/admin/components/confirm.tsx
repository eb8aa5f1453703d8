import { DialogForm } from "../../ui";
import { componentPath, groupPath } from "../paths";

interface QuestionProps {
  title: string;
  id: string;
}

/** Asks before a component is deleted, naming the data that is deleted or kept. */
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
        The component disappears from the page and the API at once, with its days and uptime.
        Incidents still name the component. This cannot be undone.
      </p>
    </DialogForm>
  );
}

/** Asks before a group is deleted. Its components are kept. */
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
      <p>The group's components stay on the page, without a group. This cannot be undone.</p>
    </DialogForm>
  );
}
