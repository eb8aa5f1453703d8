import { COMPONENT_STATUSES, type ComponentStatus } from "../../domain/component-status";
import type { Component } from "./model";

/**
 * Maximum number of causes in an event. Receivers accept 20 KB with the envelope, of which a
 * component's texts can take 8.
 */
const CAUSES_MAX = 80;

/**
 * Returns the data of a component's event: the resource of the API with its previous status. Of
 * more than 80 causes it lists the worst, with `truncated: true`. `notify` is set if the caller
 * gave it, and decides if people get a message.
 */
export function eventData(
  component: Component,
  oldStatus: ComponentStatus,
  notify: boolean | undefined,
): Record<string, unknown> {
  const { causes } = component;
  const isTooMuch = causes.length > CAUSES_MAX;
  return {
    ...component,
    ...(isTooMuch ? { causes: worstOf(causes), truncated: true } : {}),
    old_status: oldStatus,
    ...(notify === undefined ? {} : { notify }),
  };
}

function worstOf(causes: Component["causes"]): Component["causes"] {
  const badness = (status: ComponentStatus) => COMPONENT_STATUSES.indexOf(status);
  return causes.toSorted((a, b) => badness(b.status) - badness(a.status)).slice(0, CAUSES_MAX);
}
