import type { Tone } from "../../domain/tone";
import { DetailCard, DetailRow } from "../../ui/detail";
import { Shape } from "../../ui/labels";
import { componentPath } from "../paths";

/** Maximum number of components in the card. */
const SHOWN_MAX = 100;

interface AffectedProps {
  /** Title of the card; by default "Affects". */
  title?: string;
  components: readonly {
    id: string;
    name: string;
    tone: Tone;
    /** Effect on the component. */
    note: string;
    /** False for a deleted component, which has no screen. */
    hasScreen: boolean;
  }[];
  /** Sentence in the place of an empty list. */
  none: string;
}

/** Card with the components of an incident or a maintenance. */
export function Affected({ title = "Affects", components, none }: AffectedProps) {
  const more = components.length - SHOWN_MAX;
  return (
    <DetailCard title={title} liveId="affected" isFlush>
      {components.length === 0 ? (
        <p class="muted detail-body">{none}</p>
      ) : (
        <ul>
          {components.slice(0, SHOWN_MAX).map(({ id, name, tone, note, hasScreen }) => (
            <DetailRow
              key={id}
              shape={<Shape tone={tone} />}
              {...(hasScreen ? { href: componentPath(id) } : {})}
              title={name}
              note={note}
            />
          ))}
        </ul>
      )}
      {more > 0 ? <p class="muted detail-body">And {more.toLocaleString("en")} more.</p> : null}
    </DetailCard>
  );
}
