import { Actions, Button, FileField, Form, ErrorSummary, PostButton, Section } from "../../ui";
import { LOGO_MAX_BYTES } from "../../features/pages";
import { wording } from "../field-errors";
import { pagePath } from "../paths";
import { versionField } from "../stale";
import { AccentField, ThemeField } from "./fields";
import { pageTabPath, type SectionProps, WhyRefused } from "./frame";
import { PageLogo } from "./logo";
import { PAGE_LABELS } from "./values";

/**
 * Forms for a page's theme, accent colour and logo. The logo has its own form, saved on submission.
 */
export function Look({ page, values, complaints, stale }: SectionProps) {
  const { logo, ...others } = complaints;
  const wrong = wording(others, PAGE_LABELS);
  const wrongFile = wording(logo === undefined ? {} : { logo }, PAGE_LABELS);
  const fields = { values, wrong };
  const action = `${pagePath(page.id)}/logo`;
  return (
    <>
      <Form action={pageTabPath(page.id, "look")} hidden={versionField(page)}>
        <WhyRefused stale={stale} wrong={wrong} />
        <ThemeField {...fields} />
        <AccentField {...fields} />
        <Actions>
          <Button kind="primary">Save look</Button>
        </Actions>
      </Form>
      <Section title="Logo">
        <PageLogo page={page} />
        <Form action={action} sendsFiles>
          <ErrorSummary errors={wrongFile.all} />
          <FileField
            label={PAGE_LABELS.logo}
            name="logo"
            accept={["image/png", "image/jpeg", "image/webp"]}
            maxBytes={LOGO_MAX_BYTES}
            hint="PNG, JPEG or WebP: at most 128 KiB, and 2,000 pixels a side."
            error={wrongFile.about("logo")}
          />
          <Actions>
            <Button>{page.logo === null ? "Upload logo" : "Replace logo"}</Button>
          </Actions>
        </Form>
        {page.logo === null ? null : (
          <PostButton action={`${action}/remove`} kind="danger">
            Remove logo
          </PostButton>
        )}
      </Section>
    </>
  );
}
