import type { ComponentChildren } from "preact";

interface DialogBodyProps {
  title: string;
  /** Text, then a form with `Actions`. */
  children: ComponentChildren;
}

/**
 * A page's whole question, which a dialog can show too: a link with `dialog` fetches the page and
 * takes this part. It holds the page's only `h1`.
 */
export function DialogBody({ title, children }: DialogBodyProps) {
  return (
    <section class="card dialog-body" data-dialog-body>
      <h1 id="dialog-title" tabIndex={-1}>
        {title}
      </h1>
      {children}
    </section>
  );
}
