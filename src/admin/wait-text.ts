import { plural } from "../kernel/text";

/** Returns the sentence for a sign-in or a password check that was attempted too often. */
export function waitText(seconds: number): string {
  return `Too many attempts. Wait ${plural(seconds, "second")}, then try again.`;
}
