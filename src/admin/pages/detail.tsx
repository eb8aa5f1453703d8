import { logoPath, logoSize } from "../../features/pages/address";
import type { OldSlug } from "../../features/pages/slugs";
import type { PageRow } from "../../features/pages/store";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { Card, Facts } from "../../ui/blocks";
import { Logo, Swatch } from "../../ui/pictures";
import { RelativeTime } from "../../ui/times";
import { THEME_OPTIONS } from "./forms";
import { PageChips } from "./list";

interface PageFactsProps {
  page: PageRow;
  oldSlugs: readonly OldSlug[];
  /** Unix ms. */
  now: number;
}

const NONE = <span class="quiet-text">None</span>;

/** Settings of a page, read-only, for every role. */
export function PageFacts({ page, oldSlugs, now }: PageFactsProps) {
  const theme = THEME_OPTIONS.find(({ value }) => value === page.theme)?.label;
  return (
    <Card>
      <Facts
        items={[
          { label: "Address", value: <code>/status/{page.slug}</code> },
          { label: "Kind", value: <PageChips page={page} /> },
          { label: "Custom domains", value: page.customDomains.join(", ") || NONE },
          {
            label: "Earlier addresses",
            value: oldSlugs.map(({ slug }) => `/status/${slug}`).join(", ") || NONE,
          },
          { label: "Description", value: page.description ?? NONE, isWide: true },
          { label: "Time zone", value: page.timeZone },
          { label: "Language", value: page.locale },
          { label: "Days of history", value: page.historyDays },
          {
            label: "Outages join",
            value:
              page.joinMinutes === 0 ? "Never" : `Within ${plural(page.joinMinutes, "minute")}`,
          },
          { label: "Theme", value: theme },
          { label: "Accent colour", value: page.accent ? <Swatch colour={page.accent} /> : NONE },
          { label: "Logo", value: page.logo === null ? NONE : <PageLogo page={page} /> },
          { label: "Created", value: <RelativeTime at={toIso(page.createdAt)} now={now} /> },
          {
            label: "Settings changed",
            value: <RelativeTime at={toIso(page.updatedAt)} now={now} />,
          },
          { label: "Id", value: <code>{page.id}</code>, isWide: true },
        ]}
      />
    </Card>
  );
}

/** Logo of a page; renders nothing without one. */
export function PageLogo({ page }: { page: PageRow }) {
  const path = logoPath(page);
  return path === null ? null : <Logo src={path} alt={page.name} {...logoSize(path)} />;
}
