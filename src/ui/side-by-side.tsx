import type { ComponentChildren } from "preact";

/** Two `Card`s to be compared: beside each other where there is room, else below. */
export function SideBySide({ children }: { children: ComponentChildren }) {
  return <div class="side-by-side">{children}</div>;
}
