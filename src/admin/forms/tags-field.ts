import { TAG_MAX, TAGS_MAX } from "../../base/tags";
import type { Field } from "./field";
import { textAreaField } from "./text-fields";

/** Field for tags, one per line, since a tag may contain a comma. */
export function tagsField(): Field<string, string[]> {
  const lines = textAreaField({
    label: "Tags",
    hint: `Optional. One per line, at most ${TAGS_MAX}. Visitors never see them.`,
    rows: 2,
    // In UTF-16 code units, of which a character can have two.
    maxlength: TAGS_MAX * (2 * TAG_MAX + 1),
  });
  return {
    ...lines,
    initial: "",
    toBody: (typed) =>
      typed
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== ""),
    fromStored: (tags) => tags.join("\n"),
  };
}
