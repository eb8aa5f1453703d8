import { Button } from "../../ui";
import type { MessageTemplate } from "./templates";

/** The name under which a form that was sent by one of the buttons says which. */
export const TEMPLATE_FIELD = "template";

/**
 * Starts for a message. A script fills them into the form's fields `status` and `body`; without one the
 * form is sent, and comes back filled in. They come before the main button: give the form `enter`.
 */
export function TemplateButtons(props: {
  templates: readonly MessageTemplate[];
  /** Where the form is sent. It comes back at its message. */
  action: string;
  /** What stands in the message. */
  body: string;
}) {
  return (
    <div class="field">
      <p class="label" id="templates">
        Start the message from
      </p>
      <div class="presets" role="group" aria-labelledby="templates">
        {props.templates.map(({ id, label, status, body }) => (
          <Button
            key={id}
            name={TEMPLATE_FIELD}
            value={id}
            action={`${props.action}#field-body`}
            preset={{ status, body }}
            isCurrent={props.body === body}
            title={body}
          >
            {label}
          </Button>
        ))}
      </div>
    </div>
  );
}
