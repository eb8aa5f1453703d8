import type { Reader, Tx } from "../../db/statements";
import type { RequestedChoices } from "../../db/tables/mail";
import { SUBSCRIBER_EVENTS, type SubscriberEvent } from "../../base/mail-address";
import type { FieldError } from "../../base/errors";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../components/store";
import { deleteChoices, insertChoice, listChoices, type SubscriberRow } from "./store";

/** Events of a subscription for which none are named. */
export const DEFAULT_EVENTS: readonly SubscriberEvent[] = ["incidents", "maintenance"];

/** Choices as a form sends them. */
export interface TypedChoices {
  scope: string;
  components: readonly string[];
  groups: readonly string[];
  events: readonly string[];
}

/** Components and groups of a page that can be chosen. */
export interface Choosable {
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
}

export function readChoosable(reader: Reader, pageId: string): Choosable {
  return {
    components: listComponentsOfPage(reader, { pageId }),
    groups: listGroups(reader, { pageId }),
  };
}

/**
 * Returns the choices of a form, or its errors. `needsEvents` is true where a form without any event is an
 * error, and not one that leaves the choice to the default.
 */
export function parseChoices(
  typed: TypedChoices,
  { components, groups }: Choosable,
  { needsEvents }: { needsEvents: boolean },
): { choices: RequestedChoices } | { errors: FieldError[] } {
  const errors: FieldError[] = [];
  const { scope } = typed;
  if (scope !== "page" && scope !== "selection") {
    errors.push({ pointer: "#/scope", detail: "Choose everything or a selection." });
  }
  const targets = scope === "selection" ? [...typed.groups, ...typed.components] : [];
  const known = new Set([...components, ...groups].map(({ id }) => id));
  if (targets.some((id) => !known.has(id))) {
    const detail = "A component that you chose no longer exists. Check the selection.";
    errors.push({ pointer: "#/component", detail });
  } else if (scope === "selection" && targets.length === 0) {
    errors.push({ pointer: "#/component", detail: "Choose at least one component." });
  }
  const events = SUBSCRIBER_EVENTS.filter((event) => typed.events.includes(event));
  const hasUnknown = typed.events.some((event) => !(events as string[]).includes(event));
  if (hasUnknown || (needsEvents && events.length === 0)) {
    errors.push({ pointer: "#/events", detail: "Choose at least one kind of message." });
  }
  if (errors.length > 0) return { errors };
  return {
    choices: {
      scope: scope as RequestedChoices["scope"],
      targets: [...new Set(targets)],
      events: events.length > 0 ? events : [...DEFAULT_EVENTS],
    },
  };
}

/** Returns the choices without components and groups that no longer exist. */
export function existingChoices(
  choices: RequestedChoices,
  { components, groups }: Choosable,
): RequestedChoices {
  const known = new Set([...components, ...groups].map(({ id }) => id));
  return { ...choices, targets: choices.targets.filter((id) => known.has(id)) };
}

/** Returns the names of chosen groups and components, in the order of the page. */
export function namesOfTargets(
  targets: readonly string[],
  { components, groups }: Choosable,
): string[] {
  const chosen = new Set(targets);
  return [...groups, ...components].filter(({ id }) => chosen.has(id)).map(({ name }) => name);
}

/** Returns the current choices of a subscriber. */
export function choicesOf(
  reader: Reader,
  { id, scope, events }: Pick<SubscriberRow, "id" | "scope" | "events">,
): RequestedChoices {
  const targets = listChoices(reader, { subscriberId: id }).map(({ targetId }) => targetId);
  return { scope, targets, events };
}

/** Stores the components and groups of a subscriber. */
export function storeTargets(tx: Tx, subscriberId: string, targets: readonly string[]): void {
  deleteChoices(tx, { subscriberId });
  for (const targetId of targets) insertChoice(tx, { targetId, subscriberId });
}
