import type { OldSlug, PageRow } from "../../features/pages";
import { toIso } from "../../kernel/time";
import {
  Actions,
  Button,
  ButtonLink,
  Cell,
  Day,
  Form,
  ErrorSummary,
  FormNotice,
  Row,
  Section,
  Table,
  TextArea,
} from "../../ui";
import { wording } from "../field-errors";
import { pagePath } from "../paths";
import { versionField } from "../stale";
import { SlugField } from "./fields";
import { pageTabPath, type SectionProps } from "./frame";
import { PAGE_LABELS } from "./values";

interface AddressProps extends SectionProps {
  oldSlugs: readonly OldSlug[];
}

/** Forms for a page's slug, former slugs and custom domains. */
export function Address({ page, values, complaints, stale, oldSlugs }: AddressProps) {
  const { custom_domains: domains, ...others } = complaints;
  const wrong = wording(others, PAGE_LABELS);
  const wrongDomains = wording(
    domains === undefined ? {} : { custom_domains: domains },
    PAGE_LABELS,
  );
  return (
    <>
      {stale ? <FormNotice>{stale}</FormNotice> : null}
      <Form action={pageTabPath(page.id, "address")} hidden={versionField(page)}>
        <ErrorSummary errors={wrong.all} />
        <SlugField values={values} wrong={wrong} />
        <p class="muted">
          After a change the old address still works: links to <code>/status/{page.slug}</code> lead
          to the new one, and API calls that name it work as before, until you release it.
        </p>
        <Actions>
          <Button kind="primary">Change slug</Button>
        </Actions>
      </Form>
      {oldSlugs.length > 0 ? <EarlierSlugs page={page} oldSlugs={oldSlugs} /> : null}
      <Section title="Custom domains">
        <Form action={`${pagePath(page.id)}/domains`} hidden={versionField(page)}>
          <ErrorSummary errors={wrongDomains.all} />
          <TextArea
            label={PAGE_LABELS.custom_domains}
            name="custom_domains"
            value={values.custom_domains}
            hint="One a line, such as status.example.com; at most 10. Each shows this page at / and nothing else. Point its DNS record at this server. Links are made with the first."
            error={wrongDomains.about("custom_domains")}
            rows={3}
          />
          <Actions>
            <Button>Save domains</Button>
          </Actions>
        </Form>
      </Section>
    </>
  );
}

const COLUMNS = [
  { label: "Earlier address" },
  { label: "Since" },
  { label: "Release", isHidden: true },
];

function EarlierSlugs({ page, oldSlugs }: { page: PageRow; oldSlugs: readonly OldSlug[] }) {
  return (
    <Section title="Earlier addresses">
      <Table columns={COLUMNS} caption="Slugs that the page had before">
        {oldSlugs.map(({ slug, createdAt }) => (
          <Row key={slug}>
            <Cell>
              <code>/status/{slug}</code>
            </Cell>
            <Cell label="Since">
              <Day at={toIso(createdAt)} />
            </Cell>
            <Cell>
              <ButtonLink href={releasePath(page.id, slug)} dialog>
                Release
              </ButtonLink>
            </Cell>
          </Row>
        ))}
      </Table>
    </Section>
  );
}

/** Returns the path of the confirmation that releases a former slug. */
export function releasePath(id: string, slug: string): string {
  return `${pagePath(id)}/slugs/${encodeURIComponent(slug)}/release`;
}
