import { Type } from "@sinclair/typebox";
import type { Reader } from "../../db";
import { invalidParameter } from "../../errors";
import { Text } from "../../kernel/schema";
import { REFERENCE_MAX, resolveComponentId } from "./component-reference";
import { findComponent } from "./store";

/** Query parameter that filters by a component. */
export const ComponentFilter = {
  component: Type.Optional(
    Text({
      maxLength: REFERENCE_MAX,
      description: "A component's id, or `<page slug>:<ref>`; else all.",
    }),
  ),
};

/**
 * Returns the id of the component that the query parameter `component` names; undefined without the
 * parameter. Throws `invalid_request` for an unknown component.
 */
export function readComponentFilter(
  reader: Reader,
  { component }: { component?: string | undefined },
): string | undefined {
  if (component === undefined) return undefined;
  const id = resolveComponentId(reader, component);
  if (!findComponent(reader, { id })) {
    throw invalidParameter(
      "component",
      "must be the id of a component, or its page slug and ref, such as acme:api",
    );
  }
  return id;
}
