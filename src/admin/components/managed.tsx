import { Notice } from "../../ui";

/** Warns that a configuration file manages the object and overwrites changes. */
export function ManagedByFile({ what }: { what: "component" | "group" | "monitor" | "webhook" }) {
  return (
    <Notice tone="info" title="This comes from a file">
      The next <code>allclear apply</code> sets this {what} back to what its file says. Change it
      there to keep it so.
    </Notice>
  );
}
