import { Type } from "@sinclair/typebox";
import { OneOf, Text } from "../kernel/schema";
import { EMBED_THEMES } from "./embed";
import { CURSOR_PATTERN, MONTH_PATTERN } from "./month";

// Other sites append their own parameters to links. These are ignored.
const OPEN = { additionalProperties: true };

export const PermalinkQuery = Type.Object(
  { before: Type.Optional(Text({ maxLength: 100, pattern: "^upd_[0-9a-z]+$" })) },
  OPEN,
);

export const CursorQuery = Type.Object(
  { before: Type.Optional(Text({ maxLength: 100, pattern: CURSOR_PATTERN })) },
  OPEN,
);

export const MonthQuery = Type.Object(
  {
    month: Type.Optional(Text({ maxLength: 7, pattern: MONTH_PATTERN })),
    before: Type.Optional(Text({ maxLength: 100, pattern: CURSOR_PATTERN })),
  },
  OPEN,
);

export const EmbedQuery = Type.Object({ theme: Type.Optional(OneOf(EMBED_THEMES)) }, OPEN);
