import { COMPONENT_STATUSES, type ComponentStatus } from "../../kernel/component-status";
import type { Component } from "./model";

/**
 * How many causes an event lists. What receivers take without ado is 20 KB with the envelope, of which
 * the texts of a component can make 8.
 */
const CAUSES_MAX = 80;

/**
 * What an event says of a component whose status changed: what the API shows, with what it showed
 * before. Of more than 80 causes it lists the worst, with `truncated: true`. `notify` says whether
 * formats for people are to pass it on, where whoever changed it has said so.
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
