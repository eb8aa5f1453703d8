import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../kernel/schema";
import { ComponentInput, GroupInput } from "../components";
import { PageInput, RefText } from "../pages";

const PreviousRefs = Type.Optional(Type.Array(RefText));

/** A component in a file. */
export const FileComponent = Type.Object(
  { ...ComponentInput.properties, previous_refs: PreviousRefs },
  { additionalProperties: false },
);
export type FileComponent = Static<typeof FileComponent>;

/** A group in a file, with its components. */
export const FileGroup = Type.Object(
  {
    ...GroupInput.properties,
    previous_refs: PreviousRefs,
    components: Type.Optional(Type.Array(FileComponent)),
  },
  { additionalProperties: false },
);
export type FileGroup = Static<typeof FileGroup>;

/** A page in a file, with its groups and the components that are in none. */
export const FilePage = Type.Object(
  {
    ...PageInput.properties,
    previous_refs: PreviousRefs,
    previous_slugs: Type.Optional(Type.Array(Text({ maxLength: 63 }))),
    groups: Type.Optional(Type.Array(FileGroup)),
    components: Type.Optional(Type.Array(FileComponent)),
  },
  { additionalProperties: false },
);
export type FilePage = Static<typeof FilePage>;

/** A whole declarative file. */
export const ApplyFile = Type.Object(
  { pages: Type.Array(FilePage) },
  { additionalProperties: false },
);
export type ApplyFile = Static<typeof ApplyFile>;
