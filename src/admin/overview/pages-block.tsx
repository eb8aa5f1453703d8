import { headlineText, toneOf } from "../../features/status/rules";
import { plural } from "../../base/text";
import { Icon } from "../../ui/icons";
import { Shape } from "../../ui/blocks";
import { pagePath, PAGES_PATH } from "../../ui/frame/paths";
import type { CurrentState } from "./current-state";
import { Block } from "./parts";

/** Maximum number of pages listed; further ones are counted. */
const PAGES_SHOWN = 20;

/** Status pages with their headlines, linked to their public address and their screen. */
export function PagesBlock({ pages }: Pick<CurrentState, "pages">) {
  const more = pages.length - PAGES_SHOWN;
  return (
    <Block id="pages" title="Pages" aside={<a href={PAGES_PATH}>All pages</a>}>
      <ul class="rows">
        {pages.slice(0, PAGES_SHOWN).map(({ page, headline }) => {
          const tone = toneOf(headline);
          return (
            <li key={page.id} class="row">
              <Shape tone={tone} />
              <div>
                <p class="row-title">
                  <a href={pagePath(page.id)}>{page.name}</a>{" "}
                  <span class={`state t-${tone}`}>{headlineText(headline)}</span>
                </p>
                <p class="row-note">{describePage(page, headline.componentCount)}</p>
              </div>
              <div class="row-side">
                <a class="button icon" href={`/status/${page.slug}`}>
                  <Icon name="external-link" />
                  <span class="visually-hidden">View {page.name}</span>
                </a>
              </div>
            </li>
          );
        })}
        {more > 0 ? (
          <li class="row-more">
            <a href={PAGES_PATH}>and {plural(more, "more page")}</a>
          </li>
        ) : null}
      </ul>
    </Block>
  );
}

function describePage(
  { slug, visibility, isSample, customDomains }: CurrentState["pages"][number]["page"],
  count: number,
): string {
  const [domain] = customDomains;
  return [
    plural(count, "component"),
    domain ?? `/status/${slug}`,
    isSample ? "sample page" : visibility === "public" ? "" : "private",
  ]
    .filter(Boolean)
    .join(" · ");
}
