import { TextSet } from "../kernel/text-set";
import { LineText, NAME_MAX } from "./texts";

/** Maximum number of tags of one object. */
export const TAGS_MAX = 20;
/** Maximum length of a tag, in code points. */
export const TAG_MAX = 100;

const options = { minLength: 1, maxLength: TAG_MAX, examples: ["production"] };

/** Tag, without white space at its ends. */
export const TagText = LineText({ ...options, isTrimmed: true });

/** Tags of an object, in the order in which they are shown. */
export const TagsInput = TextSet(TagText, {
  maxItems: TAGS_MAX,
  description:
    "Labels that visitors never see: the dashboard, this API and webhooks of monitors show them. Tags that differ only in case are the same.",
});

/** Tag in a filter. */
export const TagFilter = LineText({
  ...options,
  description: "A tag. The case of ASCII letters is ignored.",
});

/** Group of a monitor, by which the dashboard lists it. */
export const MonitorGroup = LineText({
  minLength: 1,
  maxLength: NAME_MAX,
  isTrimmed: true,
  description: "Group under which the monitor is listed, which visitors never see; null for none.",
  examples: ["Data centre 2"],
});

/** Group of monitors in a filter. */
export const MonitorGroupFilter = LineText({
  minLength: 1,
  maxLength: NAME_MAX,
  description: "A group of monitors, exactly as it is written.",
  examples: ["Data centre 2"],
});

/** Returns the tags with `tag` added, unless they contain it in any case. */
export function withTag(tags: readonly string[], tag: string): string[] {
  return hasTag(tags, tag) ? [...tags] : [...tags, tag];
}

/** Returns the tags without `tag`, in any case. */
export function withoutTag(tags: readonly string[], tag: string): string[] {
  return tags.filter((each) => !hasTag([each], tag));
}

function hasTag(tags: readonly string[], tag: string): boolean {
  return tags.some((each) => each.toLowerCase() === tag.toLowerCase());
}
