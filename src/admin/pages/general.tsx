import { Actions, Button, Form } from "../../ui";
import { wording } from "../field-errors";
import { versionField } from "../stale";
import {
  DescriptionField,
  HistoryField,
  LocaleField,
  PageNameField,
  TimeZoneField,
} from "./fields";
import { pageTabPath, type SectionProps, WhyRefused } from "./frame";
import { PAGE_LABELS } from "./values";

/** Form for a page's name, description, time zone and other general settings. */
export function General({ page, values, complaints, stale }: SectionProps) {
  const wrong = wording(complaints, PAGE_LABELS);
  const fields = { values, wrong };
  return (
    <Form action={pageTabPath(page.id, "general")} hidden={versionField(page)}>
      <WhyRefused stale={stale} wrong={wrong} />
      <PageNameField {...fields} />
      <DescriptionField {...fields} />
      <TimeZoneField {...fields} />
      <LocaleField {...fields} />
      <HistoryField {...fields} />
      <Actions>
        <Button kind="primary">Save changes</Button>
      </Actions>
    </Form>
  );
}
