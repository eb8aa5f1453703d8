import { Chip } from "../../../ui/blocks";

/** Tags of a component. Renders nothing without tags. */
export function ComponentTags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null;
  return (
    <span class="tags">
      {tags.map((tag) => (
        <Chip key={tag} tone="none">
          {tag}
        </Chip>
      ))}
    </span>
  );
}
