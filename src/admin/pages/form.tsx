import {
  Actions,
  Button,
  ButtonLink,
  Checkbox,
  Fold,
  Form,
  ErrorSummary,
  Notice,
  PageHead,
} from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { PAGES_PATH } from "../paths";
import {
  AccentField,
  DescriptionField,
  HistoryField,
  LocaleField,
  PageNameField,
  SlugField,
  ThemeField,
  TimeZoneField,
  VisibilityField,
} from "./fields";
import { PAGE_LABELS, type PageValues } from "./values";

interface NewPageProps {
  values: PageValues;
  complaints: Complaints;
  /** Identifies this rendering of the form, so that submitting it twice creates one page. */
  formToken: string;
  /** True if the sample page exists, which the first own page removes. */
  hasSample: boolean;
  /** True if an own page exists, so that a default page is already chosen. */
  hasPages: boolean;
}

const FOLDED = ["locale", "history_days", "theme", "accent", "default"];

/** Pages → Create page. */
export function NewPage({ values, complaints, formToken, hasSample, hasPages }: NewPageProps) {
  const wrong = wording(complaints, PAGE_LABELS);
  const fields = { values, wrong };
  return (
    <>
      <PageHead title="Create page" crumbs={[{ href: PAGES_PATH, label: "Pages" }]} />
      {hasSample ? (
        <Notice tone="info" title="The sample page will be removed">
          Creating your first page removes the sample page and everything on it, for good.
        </Notice>
      ) : null}
      <Form action={`${PAGES_PATH}/new`} hidden={{ form: formToken }}>
        <ErrorSummary errors={wrong.all} />
        <PageNameField {...fields} />
        <SlugField {...fields} isNew />
        <DescriptionField {...fields} />
        <VisibilityField {...fields} />
        <TimeZoneField {...fields} />
        <Fold title="More" isOpen={FOLDED.some((field) => field in complaints)}>
          <LocaleField {...fields} />
          <HistoryField {...fields} />
          <ThemeField {...fields} />
          <AccentField {...fields} />
          {hasPages ? (
            <Checkbox
              label={PAGE_LABELS.default}
              name="default"
              hint="This page becomes the default page instead of the current one."
              isChecked={values.default === "yes"}
            />
          ) : null}
        </Fold>
        <Actions>
          <Button kind="primary">Create page</Button>
          <ButtonLink href={PAGES_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
