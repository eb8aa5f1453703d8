import type { Belongings } from "../../features/page-deletion/delete";
import type { PageRow } from "../../features/pages/store";
import { DialogForm } from "../../ui/form";
import type { StateOf } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { pagePath } from "../../ui/frame/paths";
import { DELETE_FORM } from "./forms";
import { pageTabPath } from "./frame";
import { releasePath } from "./settings";

/** Asks before a former slug is released. */
export function ReleaseSlug(props: { title: string; page: PageRow; slug: string }) {
  const { title, page, slug } = props;
  return (
    <DialogForm
      title={title}
      action={releasePath(page.id, slug)}
      button="Release slug"
      isDanger
      cancelHref={pageTabPath(page.id, "address")}
    >
      <p>
        Links to <code>/status/{slug}</code> and API requests for this slug will get “not found”,
        and any page can use the slug.
      </p>
    </DialogForm>
  );
}

/** Asks before a page is deleted. The user must type the slug, which prevents mistakes. */
export function DeletePage(props: {
  title: string;
  page: PageRow;
  belongings: Belongings;
  /** Page that becomes the default page instead; undefined if there is no other. */
  heir: PageRow | undefined;
  state: StateOf<typeof DELETE_FORM>;
}) {
  const { title, page, belongings, heir, state } = props;
  const consequences = consequencesOf(belongings);
  return (
    <DialogForm
      title={title}
      action={`${pagePath(page.id)}/delete`}
      hidden={state.hidden}
      button="Delete page"
      isDanger
      cancelHref={pagePath(page.id)}
    >
      <p>
        The page is deleted with its components, incidents, maintenance, feeds and badges. Links to
        them will get “not found”. Other pages can use its slugs. This cannot be undone.
      </p>
      {consequences.length === 0 ? null : (
        <>
          <p>Also affected:</p>
          <ul class="plain-list">
            {consequences.map((consequence) => (
              <li key={consequence}>{consequence}</li>
            ))}
          </ul>
        </>
      )}
      {page.isDefault ? (
        <p>
          This is the default page.{" "}
          {heir
            ? `“${heir.name}” becomes the default page.${heir.visibility === "public" ? "" : " It is private, so visitors see no page at /."}`
            : "There is no other page, so visitors see no page at /."}
        </p>
      ) : null}
      {page.managedBy === "apply" ? (
        <p>
          The page is managed by a configuration file. The next <code>allclear apply</code> creates
          it again unless you remove it from the file.
        </p>
      ) : null}
      <FormFields form={DELETE_FORM} state={state} />
    </DialogForm>
  );
}

/** Returns one line for each kind of object that ends with a page, with its count; empty if nothing does. */
function consequencesOf(belongings: Belongings): string[] {
  const { openIncidents, pendingMaintenance, idleMonitors } = belongings;
  const { webhooks, templates, schedules } = belongings;
  const counts: [what: string, count: number, outcome: string][] = [
    ["Planned maintenance", pendingMaintenance, "cancelled"],
    ["Maintenance schedules", schedules.length, "deleted"],
    ["Open incidents", openIncidents, "deleted"],
    ["Monitors without another page", idleMonitors.length, "paused"],
    ["Webhooks for this page only", webhooks.length, "deleted"],
    ["Incident templates for this page only", templates.length, "deleted"],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([what, count, outcome]) => `${what}: ${count.toLocaleString("en")} (${outcome})`);
}
