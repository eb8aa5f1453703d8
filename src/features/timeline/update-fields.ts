import { Type } from "@sinclair/typebox";
import { Text } from "../../kernel/schema";

/* What updates have in common, whether they tell of an incident or of a maintenance. */

/** Maximum length of an update's text, in code points. */
export const UPDATE_TEXT_MAX = 10_000;

/** Maximum number of components that one incident update or one maintenance can name. */
export const NAMED_COMPONENTS_MAX = 1_000;

/** The most updates of one incident or maintenance; the one that ends it may come on top. */
export const UPDATES_MAX = 250;

export const UpdateText = Text({
  minLength: 1,
  maxLength: UPDATE_TEXT_MAX,
  description: "Markdown.",
});

// The default stands in words: Elysia would fill it into a PATCH that leaves the field out.
export const Notify = Type.Boolean({
  description:
    "Whether people are to be told of it, by formats that are made for people. True if left out.",
});
