import { containsKeyShape, REF_LENGTH_MAX } from "./ids";
import { Text, type TextOptions } from "./schema";

/** Maximum length of a name, in code points. */
export const NAME_MAX = 255;

/**
 * Text on one line. A pasted API key is rejected, since it would be stored, listed and audited.
 */
export function LineText(options: Omit<TextOptions, "isName" | "check">) {
  return Text({
    ...options,
    isName: true,
    check: (value) =>
      containsKeyShape(value) ? "contains an API key; type a name instead" : undefined,
  });
}

/** A name. */
export const NameText = LineText({ minLength: 1, maxLength: NAME_MAX });

/** Maximum length of a description, in code points. */
export const DESCRIPTION_MAX = 1_000;

/** A description or a reason, on any number of lines. */
export const DescriptionText = Text({ maxLength: DESCRIPTION_MAX });

/** Identifier by which declarative files find an object again. */
export const RefText = Text({
  minLength: 1,
  maxLength: REF_LENGTH_MAX,
  pattern: "^[a-z0-9-]+$",
  check: (value) =>
    /^[a-z0-9-]+$/.test(value)
      ? undefined
      : "must have only lower-case letters, digits and hyphens, such as checkout-api",
});
