import { Button, type ButtonProps } from "./button";
import { safeHref } from "./safe-href";

/** A button that is a form of its own: what one click does, with at most one value. */
export function PostButton({ action, ...button }: ButtonProps & { action: string }) {
  return (
    <form method="post" action={safeHref(action)}>
      <Button {...button} />
    </form>
  );
}
