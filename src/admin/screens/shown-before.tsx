import { Actions } from "../../ui/form";
import { ButtonLink } from "../../ui/buttons";
import { PageHead } from "../../ui/navigation";
import type { Screen } from "../render";

interface ShownBefore {
  /** The secret in one word, such as "value". */
  secret: string;
  /** Instruction for a lost secret, such as "rotate the key to get a new one". */
  ifLost: string;
  /** Links to the object of the secret and to its list. */
  object: { href: string; label: string };
  list: { href: string; label: string };
}

/** Answers a form that is submitted again after its secret was shown and is no longer held. */
export function shownBefore({ secret, ifLost, object, list }: ShownBefore): Screen {
  const title = `This ${secret} was already shown`;
  return {
    title,
    children: (
      <>
        <PageHead title={title} crumbs={[list]} />
        <p>
          This form was already submitted. The {secret} was shown then and cannot be shown again.
          Nothing was changed this time.
        </p>
        <p>
          If you did not copy the {secret}, {ifLost}.
        </p>
        <Actions>
          <ButtonLink href={object.href} kind="primary">
            {object.label}
          </ButtonLink>
          <ButtonLink href={list.href}>{list.label}</ButtonLink>
        </Actions>
      </>
    ),
  };
}
