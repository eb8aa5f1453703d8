import { Actions, Button, Form, PostButton, Section } from "../../ui";
import { wording } from "../field-errors";
import { pagePath } from "../paths";
import { versionField } from "../stale";
import { VisibilityField } from "./fields";
import { pageTabPath, type SectionProps, WhyRefused } from "./frame";
import { PAGE_LABELS } from "./values";

/** Forms for a page's visibility and for making it the default page. */
export function Visibility({ page, values, complaints, stale }: SectionProps) {
  const wrong = wording(complaints, PAGE_LABELS);
  return (
    <>
      <Form action={pageTabPath(page.id, "visibility")} hidden={versionField(page)}>
        <WhyRefused stale={stale} wrong={wrong} />
        <VisibilityField values={values} wrong={wrong} />
        <Actions>
          <Button kind="primary">Save visibility</Button>
        </Actions>
      </Form>
      <Section title="Default page">
        <p>
          The default page is at <code>/</code> and <code>/api/v2/</code>.{" "}
          {page.isDefault
            ? "This page is the default. To change that, make another page the default."
            : "This page is not the default."}
        </p>
        {page.isDefault ? null : (
          <PostButton action={`${pagePath(page.id)}/default`}>
            Make this page the default
          </PostButton>
        )}
      </Section>
    </>
  );
}
