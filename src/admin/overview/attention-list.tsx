import { sum } from "../../base/numbers";
import { plural } from "../../base/text";
import { worstTone } from "../../base/status";
import { ButtonLink } from "../../ui/buttons";
import { Icon } from "../../ui/icons";
import { Shape } from "../../ui/blocks";
import {
  COMPONENTS_PATH,
  INCIDENTS_PATH,
  KEYS_PATH,
  MONITORS_PATH,
  WEBHOOKS_PATH,
} from "../../ui/frame/paths";
import type { Attention, ShownRow } from "./attention";
import type { AttentionKind } from "./attention-source";

/** List that shows all objects of a kind, and the noun for counting them, by kind. */
const LISTS: Readonly<Record<AttentionKind, { href: string; noun: string }>> = {
  monitor: { href: MONITORS_PATH, noun: "monitor" },
  component: { href: COMPONENTS_PATH, noun: "component" },
  incident: { href: `${INCIDENTS_PATH}?show=open`, noun: "incident" },
  draft: { href: `${INCIDENTS_PATH}?show=drafts`, noun: "draft" },
  webhook: { href: WEBHOOKS_PATH, noun: "webhook" },
  key: { href: `${KEYS_PATH}?show=expiring`, noun: "API key" },
};

/** List of everything that needs attention, in the colour of the worst row. */
export function AttentionList({ attention }: { attention: Attention }) {
  const { count, rows } = attention;
  return (
    <section
      class={`card attention t-${worstTone(rows.map(({ tone }) => tone))}`}
      id="attention"
      aria-labelledby="attention-title"
    >
      <div class="card-head">
        <h2 id="attention-title">
          <Icon name="triangle-alert" />
          Needs attention <span class="count">{count.toLocaleString("en")}</span>
        </h2>
        <span class="muted">Worst first</span>
      </div>
      <ul class="rows">
        {rows.map((row) => (
          <AttentionItem key={`${row.kind} ${row.href} ${row.name}`} row={row} />
        ))}
        <More attention={attention} />
      </ul>
    </section>
  );
}

function AttentionItem({ row: { tone, name, href, state, note, action } }: { row: ShownRow }) {
  return (
    <li class="row">
      <Shape tone={tone} />
      <div>
        <p class="row-title">
          {href === undefined ? <span>{name}</span> : <a href={href}>{name}</a>}{" "}
          <span class={`state t-${tone}`}>
            <span>{state}</span>
          </span>
        </p>
        <p class="row-note">{note}</p>
      </div>
      {action ? (
        <div class="row-side">
          <ButtonLink href={action.href}>
            {action.label}
            <span class="visually-hidden">: {name}</span>
          </ButtonLink>
        </div>
      ) : null}
    </li>
  );
}

function More({ attention: { hidden } }: { attention: Attention }) {
  if (hidden.size === 0) return null;
  const total = sum([...hidden.values()]);
  return (
    <li class="row-more">
      and {total.toLocaleString("en")} more:{" "}
      {Array.from(hidden, ([kind, count], index) => (
        <span key={kind}>
          {index > 0 ? ", " : ""}
          <a href={LISTS[kind].href}>{plural(count, LISTS[kind].noun)}</a>
        </span>
      ))}
    </li>
  );
}

/** Line shown instead of the list if nothing needs attention. */
export function Calm() {
  return (
    <section class="card calm" id="attention" aria-label="Needs attention">
      <Icon name="check" />
      <p>Nothing needs attention. What goes down, fails or expires soon appears here first.</p>
    </section>
  );
}
