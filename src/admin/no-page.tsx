import { type Role, roleAllows } from "../kernel/role";
import { ButtonLink, EmptyState, PageHead } from "../ui";
import { PAGES_PATH } from "./paths";

/** The first step where there is no status page yet, for whoever may take it. */
export function FirstPage({ role }: { role: Role }) {
  const mayCreate = roleAllows(role, "admin");
  return (
    <EmptyState
      title="No status page yet"
      action={
        mayCreate ? (
          <ButtonLink href={`${PAGES_PATH}/new`} kind="primary">
            Create page
          </ButtonLink>
        ) : undefined
      }
    >
      {mayCreate
        ? "A status page shows how your components are, and what you tell of incidents and maintenance."
        : "An admin or an owner can create one. Incidents and maintenance are told on it."}
    </EmptyState>
  );
}

/** A whole screen that has nothing to show without a page. */
export function NoPageYet({ title, role }: { title: string; role: Role }) {
  return (
    <>
      <PageHead title={title} />
      <FirstPage role={role} />
    </>
  );
}
