import type { Form as SentForm } from "../../http/form-body";

/**
 * Field with which a form is shown again after its user signed in: `yes`, or `partly` if typed secrets
 * were left out. Nothing else is done with such a form.
 */
export const KEPT_FIELD = "kept_form";

/** Returns the message of a form that was kept while its user signed in; undefined for other forms. */
export function keptNotice(sent: SentForm): string | undefined {
  switch (sent.text(KEPT_FIELD)) {
    case "yes":
      return "The form has all that you typed before you signed in. Check it, then submit it.";
    case "partly":
      return "The form has what you typed before you signed in, except for secrets and files. Enter those again, then submit the form.";
    default:
      return undefined;
  }
}
