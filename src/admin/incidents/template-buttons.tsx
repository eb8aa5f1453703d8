import { Button } from "../../ui";
import type { MessageTemplate } from "./templates";

/** Form field with the id of the pressed template button. */
export const TEMPLATE_FIELD = "template";

/**
 * Buttons that fill a template into the form's fields `status` and `body`, by script or by
 * submitting the form. They precede the main button, so the form needs `enter`.
 */
export function TemplateButtons(props: {
  templates: readonly MessageTemplate[];
  /** Path that the buttons submit to; the form is then shown at its message. */
  action: string;
  /** Current text of the message. */
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
