/* Screen with code and addresses that show the state of a page elsewhere. */
import { CodeBlock, Notice, Section } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Actions, Form } from "../../../ui/form";
import { FormFields } from "../../../ui/forms/fields";
import type { StateOf } from "../../../ui/forms/form";
import { pagePath } from "../../../ui/frame/paths";
import type { PageRow } from "../store";
import { COMPAT_FORM } from "./forms";

interface ShareProps {
  page: PageRow;
  /** Public address of the page. */
  url: string;
  /** True if the user may change the page. */
  canManage: boolean;
  compat: StateOf<typeof COMPAT_FORM>;
}

/** Code and addresses that show the state of a public page on other sites and in other programs. */
export function Share({ page, url, canManage, compat }: ShareProps) {
  if (page.visibility !== "public") {
    return (
      <Notice tone="maint" title="A private page cannot be shared">
        Frames and widgets exist only for public pages. Feeds, calendar and badges of a private page
        are below its links.{" "}
        {canManage ? <a href={pagePath(page.id, "access")}>Open Access</a> : null}
      </Notice>
    );
  }
  const path = `/status/${page.slug}`;
  const named = { name: page.name, url };
  return (
    <>
      <Section title="Frame">
        <p class="muted">
          A small status page inside another page, with open incidents and maintenance. It refreshes
          itself. Add <code>?theme=light</code> or <code>?theme=dark</code> to choose a theme.
        </p>
        <iframe
          class="share-frame"
          src={`${path}/embed`}
          title={`Preview of the frame of ${page.name}`}
          loading="lazy"
        />
        <CodeBlock text={frame(named)} />
      </Section>
      <Section title="Widget">
        <p class="muted">
          A script that shows the state in place, in the corner, or as a banner that appears only
          while something is wrong. Browsers load it once in 5 minutes. It sets no cookie.
        </p>
        <CodeBlock text={widget(url, "pill")} />
        <CodeBlock text={widget(url, "corner")} />
        <CodeBlock text={widget(url, "banner")} />
      </Section>
      <Section title="Badge">
        <p>
          <img src={`${path}/badge.svg`} alt={`Badge of ${page.name}`} height={20} />
        </p>
        <CodeBlock text={badgeMarkdown(named)} />
        <CodeBlock text={badgeHtml(named)} />
      </Section>
      <Section title="Homepage and Home Assistant">
        <p class="muted">
          <code>summary.json</code> is one flat object: for Homepage (gethomepage.dev) in{" "}
          <code>services.yaml</code>, for Home Assistant in <code>configuration.yaml</code>.
        </p>
        <CodeBlock text={homepage(named)} />
        <CodeBlock text={homeAssistant(named)} />
      </Section>
      <CompatSection page={page} url={url} canManage={canManage} state={compat} />
      <Section title="Feeds and calendar">
        <p class="muted">All ways to follow the page are on one public page.</p>
        <ButtonLink href={`${path}/subscribe`} opensTab>
          View the subscribe page
        </ButtonLink>
      </Section>
    </>
  );
}

interface CompatProps {
  page: PageRow;
  /** Public address of the page. */
  url: string;
  /** True if the user may change the page. */
  canManage: boolean;
  state: StateOf<typeof COMPAT_FORM>;
}

/** Choice of the clients of other products that can read a page, with the addresses for these. */
function CompatSection({ page, url, canManage, state }: CompatProps) {
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

/** Name and public address of a page. */
interface SharedPage {
  name: string;
  url: string;
}

/** Returns the HTML of a frame. */
function frame({ name, url }: SharedPage): string {
  const title = escapeHtml(`Status of ${name}`);
  return `<iframe src="${url}/embed" title="${title}" width="360" height="240" loading="lazy" style="border: 0"></iframe>`;
}

/** Returns the script element of the widget. */
function widget(url: string, style: "pill" | "corner" | "banner"): string {
  return `<script async src="${url}/widget.js" data-style="${style}"></script>`;
}

function badgeMarkdown({ name, url }: SharedPage): string {
  const text = `Status of ${name}`.replace(/[\\[\]]/g, "\\$&");
  return `[![${text}](${url}/badge.svg)](${url})`;
}

function badgeHtml({ name, url }: SharedPage): string {
  return `<a href="${url}"><img src="${url}/badge.svg" alt="${escapeHtml(`Status of ${name}`)}"></a>`;
}

/** Returns a service of Homepage, as YAML. */
function homepage({ name, url }: SharedPage): string {
  return `- ${quoted(name)}:
    href: ${url}
    widget:
      type: customapi
      url: ${url}/summary.json
      refreshInterval: 60000
      mappings:
        - field: description
          label: Status
        - field: down
          label: Down
        - field: open_incidents
          label: Incidents`;
}

/** Returns the addresses for Uptime Kuma's clients, one per line. `url` is that of the page. */
function kumaAddresses({ url, slug }: { url: string; slug: string }): string {
  const { origin } = new URL(url);
  return `url: ${origin}
slug: ${slug}

${origin}/api/status-page/${slug}
${origin}/api/status-page/heartbeat/${slug}
${origin}/api/status-page/${slug}/badge`;
}

/** Returns the address for Gatus' clients, and that of its list. `url` is that of the page. */
function gatusAddresses({ url, slug }: { url: string; slug: string }): string {
  const base = `${new URL(url).origin}/compat/gatus/${slug}`;
  return `url: ${base}

${base}/api/v1/endpoints/statuses`;
}

/** Returns a sensor of Home Assistant, as YAML. */
function homeAssistant({ name, url }: SharedPage): string {
  return `rest:
  - resource: ${url}/summary.json
    scan_interval: 60
    sensor:
      - name: ${quoted(`${withoutTemplate(name)} status`)}
        value_template: "{{ value_json.description }}"
        json_attributes:
          - up
          - down
          - open_incidents`;
}

/** Returns a template of Home Assistant that is the text: `{{`, `{%` and `{#` begin no expression. */
function withoutTemplate(text: string): string {
  return text.replace(/\{(?=[{%#])/g, "{{ '{' }}");
}

/** Returns a text as a YAML string. JSON strings are valid YAML. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
