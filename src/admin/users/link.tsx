import type { UserResource } from "../../features/users/model";
import { Actions } from "../../ui/form";
import { ButtonLink } from "../../ui/buttons";
import { Card, CodeBlock, Notice } from "../../ui/blocks";
import { PageHead } from "../../ui/navigation";
import { userPath, USERS_PATH } from "../../ui/frame/paths";

/** Screen that shows a one-time link once. */
export function RevealedLink(props: {
  title: string;
  user: UserResource;
  url: string;
  /** Lifetime of the link, such as "7 days". */
  lasts: string;
  /** True if a mail with a link of its own goes to the user. */
  isMailed: boolean;
}) {
  const { title, user, url, lasts, isMailed } = props;
  return (
    <>
      <PageHead
        title={title}
        crumbs={[
          { href: USERS_PATH, label: "Users" },
          { href: userPath(user.id), label: user.name },
        ]}
      />
      <Notice tone="degraded" title="This link is shown only once">
        {isMailed
          ? `A mail to ${user.email} has a link of its own. You can also send this one over a private channel; using one ends the other.`
          : `Send it to ${user.email} over a private channel.`}{" "}
        It works once and expires after {lasts}. A new link replaces this one.
      </Notice>
      <Card title={user.name}>
        <CodeBlock text={url} copyLabel="Copy link" isSecret />
      </Card>
      <Actions>
        <ButtonLink href={USERS_PATH} kind="primary">
          Back to Users
        </ButtonLink>
      </Actions>
    </>
  );
}
