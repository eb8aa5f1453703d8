import { SIGN_IN_PATH } from "../../../http/caller";
import { ButtonLink } from "../../../ui/buttons";
import { Actions } from "../../../ui/form";
import { FORGOT_PATH } from "../../users/mails";

/** Kind of a one-time link, as in its path: setting up Allclear, or choosing a password. */
export type LinkKind = "setup" | "join";

/** Returns the page of a one-time link that was used, has expired, or was replaced. */
export function deadLinkPage(kind: LinkKind, canReset: boolean) {
  const children = <DeadLink kind={kind} canReset={canReset} />;
  return { title: "This link no longer works", status: 404, children };
}

function DeadLink({ kind, canReset }: { kind: LinkKind; canReset: boolean }) {
  return (
    <>
      <p>
        The link was already used, was replaced by a newer one, or has expired.{" "}
        {kind === "setup"
          ? "If Allclear is not set up yet, restart the server, which prints a new link."
          : "Ask an owner for a new one."}
      </p>
      {kind === "join" && canReset ? (
        <p>
          If you have a password already, you can{" "}
          <a href={FORGOT_PATH}>get a link for a new one by e-mail</a>.
        </p>
      ) : null}
      <Actions>
        <ButtonLink href={SIGN_IN_PATH}>Sign in</ButtonLink>
      </Actions>
    </>
  );
}
