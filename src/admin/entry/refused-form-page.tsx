import { Actions, Form } from "../../ui/form";
import { Button, ButtonLink } from "../../ui/buttons";
import { KEPT_FIELD } from "../../ui/forms/form";
import { entriesOfKept, type RefusedForm } from "./refused-form";

/**
 * Page after signing in, which leads back to the form that was open when the session ended. If the form
 * is the user's own, a script presses the button.
 */
export function RefusedFormPage({
  kept,
  user,
}: {
  kept: RefusedForm;
  user: { id: string; name: string };
}) {
  const isOwn = kept.owner === user.id;
  return (
    <>
      <p>You are signed in as {user.name}. Nothing was saved yet.</p>
      <p class="muted">
        {isOwn
          ? "Your form is kept with what you typed."
          : "The form that was open in this browser is kept. It may have been filled in by another user."}
      </p>
      <div data-continues={isOwn ? "" : undefined}>
        <Form action={kept.path} hidden={{ [KEPT_FIELD]: kept.isPartial ? "partly" : "yes" }}>
          {entriesOfKept(kept).map(([name, value], index) => (
            <input key={index} type="hidden" name={name} value={value} />
          ))}
          <Actions>
            <Button kind="primary">Continue to the form</Button>
            <ButtonLink href={kept.path}>Discard what was typed</ButtonLink>
          </Actions>
        </Form>
      </div>
    </>
  );
}
