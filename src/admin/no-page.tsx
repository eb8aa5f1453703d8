import { type Role, roleAllows } from "../base/actor";
import { ButtonLink } from "../ui/buttons";
import { EmptyState } from "../ui/blocks";
import { PageHead } from "../ui/navigation";
import { PAGES_PATH } from "./paths";

/** Empty state without a status page, with the first step for roles that may create one. */
export function FirstPage({ role }: { role: Role }) {
  const canCreate = roleAllows(role, "admin");
  return (
    <EmptyState
      title="No status page yet"
      action={
        canCreate ? (
          <ButtonLink href={`${PAGES_PATH}/new`} kind="primary">
            Create page
          </ButtonLink>
        ) : undefined
      }
    >
      {canCreate
        ? "A status page shows the status of your components, incidents and maintenance."
        : "Incidents and maintenance belong to a status page. Ask an admin to create one."}
    </EmptyState>
  );
}

/** Replacement for a screen that needs a status page, before the first page exists. */
export function NoPageYet({ title, role }: { title: string; role: Role }) {
  return (
    <>
      <PageHead title={title} />
      <FirstPage role={role} />
    </>
  );
}
