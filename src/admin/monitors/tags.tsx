import { MONITORS_PATH } from "../../ui/frame/paths";
import { listPath } from "../../features/timeline/screens/list";

interface TagsProps {
  group: string | null;
  tags: readonly string[];
  /** Maximum number of tags shown; all by default. Further ones are counted. */
  max?: number;
}

/** Group and tags of a monitor as links to the monitors that have them. Renders nothing without any. */
export function Tags({ group, tags, max = tags.length }: TagsProps) {
  if (group === null && tags.length === 0) return null;
  const more = tags.length - max;
  return (
    <span class="tags">
      {group === null ? null : (
        <a class="chip" href={listPath(MONITORS_PATH, { group })}>
          <span class="visually-hidden">Monitors of the group </span>
          {group}
        </a>
      )}
      {tags.slice(0, max).map((tag) => (
        <a key={tag} class="chip" href={listPath(MONITORS_PATH, { tag })}>
          <span class="visually-hidden">Monitors with the tag </span>
          {tag}
        </a>
      ))}
      {more > 0 ? <span class="note-inline">and {more} more</span> : null}
    </span>
  );
}
