import { type Operation, operation } from "../http/operation";

/** Option of a form that `keptNotice` shows again as it was typed, before anything else is done. */
export const KEEPS_TYPED = { keepsTyped: true } as const;

/**
 * Declares a screen or a form's action, which is not in the OpenAPI document and whose errors are
 * HTML pages.
 */
export function screenOperation(
  summary: string,
  access: Operation["access"],
  more: Pick<Operation, "beforeBody" | "keepsTyped"> = {},
) {
  return operation({
    summary,
    tag: "Dashboard",
    access,
    answers: {
      200: { description: "HTML." },
      303: { description: "Redirect to the next screen." },
    },
    errors: ["not_found", "conflict"],
    ...more,
  });
}
