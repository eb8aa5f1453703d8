import { type Role, roleAllows } from "../../base/actor";
import { ButtonLink } from "../../ui/buttons";
import { EmptyState } from "../../ui/blocks";
import type { SubscriberListing } from "./read";
import { newSubscriberPath, subscribersOfPagePath } from "./subscriber-paths";

/** Replacement of a list without entries. */
export function EmptyList({ list, role }: { list: SubscriberListing; role: Role }) {
  const { page, view, search, target, reason, nextBefore, isContinued } = list;
  if (nextBefore !== undefined) {
    return (
      <EmptyState title="No match so far">
        Only a part of the list was searched. Select “Older” to search the next part.
      </EmptyState>
    );
  }
  if (isContinued) return <EmptyState title="No more entries">The list ends here.</EmptyState>;
  const isFiltered = search !== "" || target !== undefined || reason !== undefined;
  if (isFiltered) {
    return (
      <EmptyState
        title="No one matches these filters"
        action={<ButtonLink href={subscribersOfPagePath(page.slug)}>Show all</ButtonLink>}
      >
        Only this tab was searched. Look at the other tabs as well.
        {search.length > 0 && search.length < 3
          ? " One or two characters find addresses that begin with them."
          : ""}
      </EmptyState>
    );
  }
  if (view !== "active") {
    return <EmptyState title={EMPTY_TITLES[view]}>{EMPTY_TEXTS[view]}</EmptyState>;
  }
  return (
    <EmptyState
      title="No subscribers yet"
      action={
        roleAllows(role, "admin") ? (
          <ButtonLink href={newSubscriberPath(page.slug)}>Add subscriber</ButtonLink>
        ) : undefined
      }
    >
      Visitors subscribe on the subscribe page. You can also add people, who then confirm by a mail.
    </EmptyState>
  );
}

const EMPTY_TITLES = {
  unconfirmed: "No unconfirmed sign-ups",
  suppressed: "No suppressed addresses",
  unsubscribed: "No one unsubscribed",
} as const;

const EMPTY_TEXTS = {
  unconfirmed: "Sign-ups appear here until the person confirms, for at most 7 days.",
  suppressed:
    "Subscribers whose address gets no messages appear here, with the reason: it bounced or failed, the person complained or declined, or an admin blocked it.",
  unsubscribed:
    "People whose subscription has ended appear here. Their addresses are removed after 30 days.",
} as const;
