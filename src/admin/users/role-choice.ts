import { ROLE_SENTENCES, ROLES } from "../../kernel/role";
import { capitalised } from "../../kernel/text";

/** The roles to choose from, and what each may do. */
export const ROLE_CHOICES = ROLES.map((role) => ({
  value: role,
  label: capitalised(role),
  hint: ROLE_SENTENCES[role],
}));
