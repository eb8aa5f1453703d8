import type { OldSlug } from "../../features/pages/slugs";
import type { PageRow } from "../../features/pages/store";
import { toIso } from "../../base/time";
import { Actions, Form } from "../../ui/form";
import { Button, ButtonLink, PostButton } from "../../ui/buttons";
import { Cell, Row, Table } from "../../ui/list";
import { Day } from "../../ui/times";
import { DetailCard } from "../../ui/detail";
import type { StateOf } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { pagePath } from "../../ui/frame/paths";
import { PageLogo } from "./detail";
import {
  DOMAINS_FORM,
  GENERAL_FORM,
  LOGO_FORM,
  LOOK_FORM,
  SLUG_FORM,
  VISIBILITY_FORM,
} from "./forms";
import { pageTabPath } from "./frame";

/** Form for a page's name, description, time zone and other general settings. */
export function General({ page, state }: { page: PageRow; state: StateOf<typeof GENERAL_FORM> }) {
  return (
    <DetailCard title="General" liveId="page-general" isStill>
      <Form action={pageTabPath(page.id, "general")} hidden={state.hidden}>
        <FormFields form={GENERAL_FORM} state={state} />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

/**
 * Forms for a page's theme, accent colour and logo. The logo has its own form, saved on submission.
 */
export function Look(props: {
  page: PageRow;
  look: StateOf<typeof LOOK_FORM>;
  logo: StateOf<typeof LOGO_FORM>;
}) {
  const { page, look, logo } = props;
  const action = `${pagePath(page.id)}/logo`;
  return (
    <>
      <DetailCard title="Theme and colour" liveId="page-look" isStill>
        <Form action={pageTabPath(page.id, "look")} hidden={look.hidden}>
          <FormFields form={LOOK_FORM} state={look} />
          <Actions>
            <Button>Save appearance</Button>
          </Actions>
        </Form>
      </DetailCard>
      <DetailCard
        title="Page logo"
        liveId="page-logo"
        isStill
        end={
          page.logo === null ? null : (
            <PostButton action={`${action}/remove`} kind="danger">
              Remove logo
            </PostButton>
          )
        }
      >
        <PageLogo page={page} />
        <Form action={action} hidden={logo.hidden} sendsFiles>
          <FormFields form={LOGO_FORM} state={logo} />
          <Actions>
            <Button>{page.logo === null ? "Upload logo" : "Replace logo"}</Button>
          </Actions>
        </Form>
      </DetailCard>
    </>
  );
}

/** Forms for a page's slug, former slugs and custom domains. */
export function Address(props: {
  page: PageRow;
  oldSlugs: readonly OldSlug[];
  slug: StateOf<typeof SLUG_FORM>;
  domains: StateOf<typeof DOMAINS_FORM>;
}) {
  const { page, oldSlugs, slug, domains } = props;
  return (
    <>
      <DetailCard title="Address" liveId="page-slug" isStill>
        <Form action={pageTabPath(page.id, "address")} hidden={slug.hidden}>
          <FormFields form={SLUG_FORM} state={slug} />
          <p class="muted">
            After a change, the current slug works until you release it:{" "}
            <code>/status/{page.slug}</code> redirects to the new address, and API requests with
            this slug still work.
          </p>
          <Actions>
            <Button>Change slug</Button>
          </Actions>
        </Form>
      </DetailCard>
      {oldSlugs.length > 0 ? <EarlierSlugs page={page} oldSlugs={oldSlugs} /> : null}
      <DetailCard title="Custom domains" liveId="page-domains" isStill>
        <Form action={`${pagePath(page.id)}/domains`} hidden={domains.hidden}>
          <FormFields form={DOMAINS_FORM} state={domains} />
          <Actions>
            <Button>Save domains</Button>
          </Actions>
        </Form>
      </DetailCard>
    </>
  );
}

/** Forms for a page's visibility and for making it the default page. */
export function Visibility({
  page,
  state,
}: {
  page: PageRow;
  state: StateOf<typeof VISIBILITY_FORM>;
}) {
  return (
    <>
      <DetailCard title="Access" liveId="page-visibility" isStill>
        <Form action={pageTabPath(page.id, "visibility")} hidden={state.hidden}>
          <FormFields form={VISIBILITY_FORM} state={state} />
          <Actions>
            <Button>Save visibility</Button>
          </Actions>
        </Form>
      </DetailCard>
      <DetailCard title="Default page" liveId="page-default" isStill>
        <p>
          The default page is at <code>/</code> and <code>/api/v2/</code>.{" "}
          {page.isDefault
            ? "This page is the default page. To change that, make another page the default."
            : "This page is not the default page."}
        </p>
        {page.isDefault ? null : (
          <div class="actions">
            <PostButton action={`${pagePath(page.id)}/default`}>
              Make this page the default
            </PostButton>
          </div>
        )}
      </DetailCard>
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
    <DetailCard title="Earlier addresses" liveId="page-slugs" isTable>
      <Table columns={COLUMNS} caption="Earlier addresses of the page" isInCard>
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
    </DetailCard>
  );
}

/** Returns the path of the confirmation that releases a former slug. */
export function releasePath(id: string, slug: string): string {
  return `${pagePath(id)}/slugs/${encodeURIComponent(slug)}/release`;
}
