import type { PageRow } from "../../features/pages/store";
import { Actions, Form } from "../../ui/form";
import { Button } from "../../ui/buttons";
import { CodeBlock, Section } from "../../ui/blocks";
import type { StateOf } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { pagePath } from "../../ui/frame/paths";
import { COMPAT_FORM } from "./forms";
import { gatusAddresses, kumaAddresses } from "./share-snippets";

interface CompatProps {
  page: PageRow;
  /** Public address of the page. */
  url: string;
  /** True if the user may change the page. */
  canManage: boolean;
  state: StateOf<typeof COMPAT_FORM>;
}

/** Choice of the clients of other products that can read a page, with the addresses for these. */
export function CompatSection({ page, url, canManage, state }: CompatProps) {
  if (!canManage && page.compat.length === 0) return null;
  return (
    <Section title="Clients of other products" id="clients">
      {canManage ? (
        <Form action={`${pagePath(page.id)}/compat`} hidden={state.hidden}>
          <FormFields form={COMPAT_FORM} state={state} />
          <Actions>
            <Button>Save clients</Button>
          </Actions>
        </Form>
      ) : null}
      {page.compat.includes("uptime-kuma") ? (
        <>
          <p class="muted">
            For Uptime Kuma’s clients: the base address and the slug, two documents, and the badge
            of the page. Badges of components have the numbers in the first document.
          </p>
          <CodeBlock text={kumaAddresses({ url, slug: page.slug })} />
        </>
      ) : null}
      {page.compat.includes("gatus") ? (
        <>
          <p class="muted">
            For Gatus’ clients: the base address, and the list of components with their keys.
          </p>
          <CodeBlock text={gatusAddresses({ url, slug: page.slug })} />
        </>
      ) : null}
    </Section>
  );
}
