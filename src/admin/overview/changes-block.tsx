import type { AuditRow } from "../../events/audit-search";
import { toIso } from "../../base/time";
import { Icon, type IconName } from "../../ui/icons";
import { RelativeTime } from "../../ui/times";
import { ACTIVITY_PATH } from "../../ui/frame/paths";
import { Block } from "./parts";

/** Icons of changes by the start of their action. */
const ICONS: Readonly<Record<string, IconName>> = {
  incident: "siren",
  maintenance: "wrench",
  component: "blocks",
  group: "blocks",
  monitor: "activity",
  page: "globe",
  key: "key-round",
  webhook: "webhook",
  user: "users",
  settings: "settings",
};

interface ChangesProps {
  changes: readonly AuditRow[];
  /** Paths of the changed objects that still exist, by id. */
  links: ReadonlyMap<string, string>;
  now: number;
}

/** Latest entries of the audit log. */
export function ChangesBlock({ changes, links, now }: ChangesProps) {
  return (
    <Block id="changes" title="Latest changes" aside={<a href={ACTIVITY_PATH}>All activity</a>}>
      <ul class="rows">
        {changes.map(({ id, action, targetId, summary, actorLabel, at }) => {
          const link = links.get(targetId);
          return (
            <li key={id} class="row">
              <Icon name={ICONS[action.split(".")[0] ?? ""] ?? "scroll-text"} />
              <div>
                <p class="row-title is-change">
                  {link === undefined ? <span>{summary}</span> : <a href={link}>{summary}</a>}
                </p>
                <p class="row-note">{actorLabel}</p>
              </div>
              <div class="row-side">
                <RelativeTime at={toIso(at)} now={now} />
              </div>
            </li>
          );
        })}
      </ul>
    </Block>
  );
}
