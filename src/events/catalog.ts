/** Every event that Allclear tells the outside of, by the name that subscribers filter on. */
export const EVENTS = {
  "component.status_changed": "A component's effective status changed.",
} as const;

export type EventType = keyof typeof EVENTS;
