import type { Reader } from "../../db";
import { invalidParameter } from "../../errors";
import { resolveComponentId } from "./component-reference";
import { findComponent } from "./store";

/**
 * The id of the component that a list is narrowed to by the query parameter `component`; undefined where
 * it is not. Throws `invalid_request` if there is no such component.
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
