import type { ComponentChildren } from "preact";
import type { PageRow } from "../../features/pages";
import { FilterSelect, ListToolbar, PageHead, Tabs } from "../../ui";
import { PageFilter } from "../page-choice";
import { ANALYTICS_PATH } from "../paths";
import {
  INCIDENT_FIGURES_PATH,
  REQUEST_FIGURES_PATH,
  type Selection,
  selectionPath,
  SPAN_OPTIONS,
} from "./selection";

const VIEWS = [
  { path: ANALYTICS_PATH, label: "Uptime" },
  { path: INCIDENT_FIGURES_PATH, label: "Incidents" },
  { path: REQUEST_FIGURES_PATH, label: "Requests" },
];

interface AnalyticsFrameProps {
  /** Path of the open view. */
  path: string;
  selection: Selection;
  /** Options of the filters; omitted for figures that do not depend on a page or a period. */
  pages?: readonly PageRow[];
  hasSpan?: boolean;
  actions?: ComponentChildren;
  /** Calculation methods, by the name of the figures. */
  methods: readonly { of: string; method: string }[];
  children: ComponentChildren;
}

/** Heading, tabs, filters and method notes shared by the analytics views. */
export function AnalyticsFrame(props: AnalyticsFrameProps) {
  const { path, selection, pages = [], hasSpan = false, methods, children } = props;
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
      {pages.length > 1 || hasSpan ? (
        <ListToolbar action={path} isCard>
          <PageFilter pages={pages} page={pages.find(({ slug }) => slug === selection.page)} />
          {hasSpan ? (
            <FilterSelect
              label="Period"
              name="span"
              options={SPAN_OPTIONS}
              value={selection.span}
            />
          ) : null}
        </ListToolbar>
      ) : null}
      {children}
      {methods.map(({ of, method }) => (
        <p key={of} class="muted">
          Calculation for {of}: {method}
        </p>
      ))}
    </>
  );
}
