import type { ComponentChildren } from "preact";
import { FilterSelect, ListToolbar } from "../../ui/list";
import { HiddenFields } from "../../ui/form";
import { PageHead, Tabs } from "../../ui/navigation";
import { PageFilter } from "../../ui/frame/page-choice";
import { ANALYTICS_PATH } from "../../ui/frame/paths";
import {
  CALENDAR_PATH,
  INCIDENT_FIGURES_PATH,
  REQUEST_FIGURES_PATH,
  RESPONSE_TIME_PATH,
  type Selection,
  selectionPath,
  SPAN_OPTIONS,
} from "./selection";

const VIEWS = [
  { path: ANALYTICS_PATH, label: "Uptime" },
  { path: CALENDAR_PATH, label: "Calendar" },
  { path: RESPONSE_TIME_PATH, label: "Response time" },
  { path: INCIDENT_FIGURES_PATH, label: "Incidents" },
  { path: REQUEST_FIGURES_PATH, label: "Requests" },
];

interface AnalyticsFrameProps {
  /** Path of the open view. */
  path: string;
  selection: Selection;
  /** True for figures of a page, and for figures of a period. */
  hasPage?: boolean;
  /** True if figures of all pages together do not exist. */
  isOnePage?: boolean;
  hasSpan?: boolean;
  /** Query parameters that the filters keep. */
  hidden?: Readonly<Record<string, string>>;
  actions?: ComponentChildren;
  /** Calculation methods, by the name of the figures. */
  methods: readonly { of: string; method: string }[];
  children: ComponentChildren;
}

/** Heading, tabs, filters and method notes shared by the analytics views. */
export function AnalyticsFrame(props: AnalyticsFrameProps) {
  const { path, selection, hasPage = false, hasSpan = false, methods, children } = props;
  const { pages, page, span } = selection;
  const hasChoice = hasPage && pages.length > 1;
  return (
    <>
      <PageHead title="Analytics" actions={props.actions} />
      <Tabs
        label="Figures"
        items={VIEWS.map(({ path: href, label }) => ({
          href: selectionPath(href, selection),
          label,
          isCurrent: href === path,
        }))}
      />
      {hasChoice || hasSpan ? (
        <ListToolbar action={path} isCard>
          <HiddenFields values={props.hidden ?? {}} />
          {hasChoice ? (
            <PageFilter pages={pages} page={page} isOnePage={props.isOnePage ?? false} />
          ) : null}
          {hasSpan ? (
            <FilterSelect label="Period" name="span" options={SPAN_OPTIONS} value={span} />
          ) : null}
        </ListToolbar>
      ) : null}
      <p class="print-only muted">
        {[
          VIEWS.find((view) => view.path === path)?.label,
          ...(hasPage ? [page?.name ?? "All pages"] : []),
          ...(hasSpan ? [SPAN_OPTIONS.find(({ value }) => value === span)?.label] : []),
        ].join(" · ")}
      </p>
      {children}
      {methods.map(({ of, method }) => (
        <p key={of} class="muted">
          Calculation for {of}: {method}
        </p>
      ))}
    </>
  );
}
