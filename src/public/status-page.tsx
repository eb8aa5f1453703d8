import type { Indicator, Snapshot } from "../features/status";
import { type HtmlDocument, IndicatorShape, renderDocument, StatusLabel } from "../ui";

type Document = Snapshot["document"];
type PageComponent = Document["components"][number];

/** The favicon's colour for each severity of the headline. */
const ICON_COLOURS: Record<Indicator, string> = {
  none: "#1a7f4b",
  maintenance: "#2563c4",
  minor: "#b94a00",
  major: "#c2272d",
  critical: "#c2272d",
};

/** The public page of one status page, made from the same document as its JSON. */
export function renderStatusPage(document: Document): HtmlDocument {
  const { page, status, groups, components } = document;
  const shown = components.filter(isShown);
  const ungrouped = shown.filter((component) => component.group_id === null);
  return renderDocument({
    title: `${status.description} · ${page.name}`,
    locale: page.locale,
    theme: page.theme,
    iconColour: ICON_COLOURS[status.indicator],
    ...(page.description ? { description: page.description } : {}),
    children: (
      <main class="column">
        <header class="page-head">
          <h1>{page.name}</h1>
          {page.description ? <p class="muted">{page.description}</p> : null}
        </header>
        {page.sample ? <SampleNotice /> : null}
        <div class={`banner is-${status.indicator}`} role="status">
          <IndicatorShape indicator={status.indicator} />
          <div>
            <strong>{status.description}</strong>
            <span class="muted">
              Last change <Moment at={document.updated_at} />
            </span>
          </div>
        </div>
        <ComponentList title="Components" components={ungrouped} />
        {groups.map((group) => (
          <ComponentList
            key={group.id}
            title={group.name}
            components={shown.filter((component) => component.group_id === group.id)}
          />
        ))}
        <footer class="footer muted">Times are UTC. Status by Allclear.</footer>
      </main>
    ),
  });
}

/** The page at `/` while there is no public page to show. */
export function renderEmptyHome(): HtmlDocument {
  return renderDocument({
    title: "Allclear",
    children: (
      <main class="column">
        <header class="page-head">
          <h1>Allclear</h1>
        </header>
        <p>There is no public status page here yet.</p>
        <p class="muted">
          Describe one in a file and run <code>allclear apply status.yaml</code>.
        </p>
      </main>
    ),
  });
}

function SampleNotice() {
  return (
    <div class="card notice">
      <p>
        This is a sample. Describe your own page in a file and run{" "}
        <code>allclear apply status.yaml</code>: it takes this one's place.
      </p>
      <p class="muted">
        Programs read this page at <code>/api/v1/status/&lt;slug&gt;</code>; see{" "}
        <a href="/docs">the API's documentation</a>.
      </p>
    </div>
  );
}

function ComponentList(props: { title: string; components: PageComponent[] }) {
  if (props.components.length === 0) return null;
  return (
    <section>
      <h2 class="section-title">{props.title}</h2>
      <ul class="card">
        {props.components.map((component) => (
          <li class="row" key={component.id}>
            <div class="row-text">
              {component.name}
              {component.description ? <p class="muted">{component.description}</p> : null}
              <p class="muted">{uptimeSentence(component.uptime_90d)}</p>
            </div>
            <StatusLabel status={component.status} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Moment({ at }: { at: string }) {
  return <time dateTime={at}>{`${at.slice(0, 10)} ${at.slice(11, 16)} UTC`}</time>;
}

function isShown(component: PageComponent): boolean {
  return !component.only_show_if_degraded || component.status !== "operational";
}

function uptimeSentence(uptime: number | null): string {
  if (uptime === null) return "No uptime known yet";
  // Rounded down, so that an outage never reads as 100 %.
  const percent = (Math.floor(uptime * 100_000) / 1_000).toFixed(3).replace(/\.?0+$/, "");
  return `${percent} % up in the last 90 days`;
}
