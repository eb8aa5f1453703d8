import { Notice } from "../../ui/blocks";

/** Warns that a configuration file manages the object and overwrites changes. */
export function ManagedByFile({
  what,
}: {
  what: "component" | "group" | "monitor" | "webhook" | "template" | "schedule";
}) {
  return (
    <Notice tone="maint" title="Managed by a configuration file">
      The next <code>allclear apply</code> resets this {what} to the content of the file. To keep a
      change, make it in the file.
    </Notice>
  );
}
