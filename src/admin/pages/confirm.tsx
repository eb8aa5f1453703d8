import type { PageRow } from "../../features/pages";
import { DialogForm, FormErrors, TextField } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { pagePath } from "../paths";
import { releasePath } from "./address";
import { pageTabPath } from "./frame";

/** Asks before an earlier slug is let go of. */
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
        Links to <code>/status/{slug}</code> and API calls that name it get “not found” from then
        on, and any page may take the slug.
      </p>
    </DialogForm>
  );
}

/** Asks before a page is deleted, for its slug: nobody types that by mistake. */
export function DeletePage(props: {
  title: string;
  page: PageRow;
  /** The page that becomes the default one in its place; undefined where there is no other. */
  heir: PageRow | undefined;
  /** What was typed. */
  slug: string;
  complaints: Complaints;
  formToken: string;
}) {
  const { title, page, heir, slug, complaints, formToken } = props;
  const label = `Type ${page.slug} to delete it`;
  const wrong = wording(complaints, { slug: label });
  return (
    <DialogForm
      title={title}
      action={`${pagePath(page.id)}/delete`}
      hidden={{ form: formToken }}
      button="Delete page"
      isDanger
      cancelHref={pagePath(page.id)}
    >
      <FormErrors errors={wrong.all} />
      <p>
        Its components, incidents and maintenance go with it, its feeds and badges too: all of them
        get “not found”. Its slugs are free for other pages. This cannot be undone.
      </p>
      {page.isDefault ? (
        <p>
          It is the default page.{" "}
          {heir
            ? `“${heir.name}” takes its place.`
            : "There is no other, so that nothing is shown at / any more."}
        </p>
      ) : null}
      {page.managedBy === "apply" ? (
        <p>
          <code>allclear apply</code> makes a new one as long as it is in the file.
        </p>
      ) : null}
      <TextField
        label={label}
        name="slug"
        value={slug}
        error={wrong.about("slug")}
        autocomplete="off"
        required
      />
    </DialogForm>
  );
}
