import { CodeBlock, Notice, Section } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import type { StateOf } from "../../../ui/forms/form";
import type { PageRow } from "../store";
import type { COMPAT_FORM } from "./forms";
import { pageTabPath } from "./list";
import { CompatSection } from "./settings";
import { badgeHtml, badgeMarkdown, frame, homeAssistant, homepage, widget } from "./share-snippets";

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
        Frames, widgets, badges and feeds exist only for public pages.{" "}
        {canManage ? <a href={pageTabPath(page.id, "visibility")}>Change the visibility</a> : null}
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
