import { type Tone, TONES, worstTone } from "../../base/status";

/** Radius of an arc of operational components. */
const RADIUS = 43;
/** Radius of all other arcs. */
const TROUBLED_RADIUS = 46;
/** Maximum number of arcs; with more parts, several share one. */
const ARCS_MAX = 60;

/** Component, as far as the gauge shows it. */
export interface GaugePart {
  tone: Tone;
  /** Id of the group, or of the page, whose parts share an arc if there are more than 60 parts. */
  group: string;
}

/**
 * Returns the tones of the arcs: one for each part, or one for each group if there are more than 60
 * parts. With more than 60 groups, each tone has arcs in proportion to its number of parts.
 */
export function arcTones(parts: readonly GaugePart[]): readonly Tone[] {
  if (parts.length <= ARCS_MAX) return parts.map(({ tone }) => tone);
  const groups = Map.groupBy(parts, ({ group }) => group);
  if (groups.size <= ARCS_MAX) {
    return Array.from(groups.values(), (group) => worstTone(group.map(({ tone }) => tone)));
  }
  const shares = TONES.toReversed().map((tone) => {
    const count = parts.filter((part) => part.tone === tone).length;
    return {
      tone,
      arcs: count === 0 ? 0 : Math.max(1, Math.floor((count * ARCS_MAX) / parts.length)),
    };
  });
  const tones = shares.flatMap(({ tone, arcs }) => Array.from({ length: arcs }, () => tone));
  const last = tones.at(-1) ?? "none";
  return [...tones, ...Array.from({ length: ARCS_MAX }, () => last)].slice(0, ARCS_MAX);
}

/** Ring with an arc for each part, and the number of operational components in its centre. */
export function Gauge({
  parts,
  operational,
}: {
  parts: readonly GaugePart[];
  operational: number;
}) {
  const tones = arcTones(parts);
  const step = (2 * Math.PI) / tones.length;
  const gap = tones.length === 1 ? 0.0001 : Math.min(0.1, step * 0.22);
  return (
    <svg
      class="gauge"
      viewBox="0 0 100 100"
      role="img"
      aria-label={`${operational} of ${parts.length} components are operational`}
    >
      {tones.map((tone, index) => {
        const isWell = tone === "ok";
        const radius = isWell ? RADIUS : TROUBLED_RADIUS;
        const from = index * step + gap / 2;
        const to = (index + 1) * step - gap / 2;
        return (
          // Arcs have no other key than their position.
          // oxlint-disable-next-line react/no-array-index-key
          <path key={index} class={`t-${tone}${isWell ? "" : " bad"}`} d={arc(radius, from, to)} />
        );
      })}
      <text x="50" y="55">
        {operational.toLocaleString("en")}
      </text>
      <text class="of" x="50" y="70">
        of {parts.length.toLocaleString("en")}
      </text>
    </svg>
  );
}

/** Returns the path of an arc between two angles, clockwise from the top. */
function arc(radius: number, from: number, to: number): string {
  const large = to - from > Math.PI ? 1 : 0;
  return `M${point(radius, from)}A${radius} ${radius} 0 ${large} 1 ${point(radius, to)}`;
}

function point(radius: number, angle: number): string {
  const [x, y] = [50 + radius * Math.sin(angle), 50 - radius * Math.cos(angle)];
  return `${Math.round(x * 100) / 100} ${Math.round(y * 100) / 100}`;
}

const RING = "M50 7a43 43 0 1 1-.01 0Z";

/** Closed ring with a check mark, shown if all is clear. */
export function ClosedGauge() {
  return (
    <svg class="gauge t-ok" viewBox="0 0 100 100" role="img" aria-label="All clear">
      <path d={RING} />
      <path class="tick" d="m33 51 12 12 23-25" />
    </svg>
  );
}

/** Dashed ring of components that no monitor checks. */
export function UnsetGauge() {
  return (
    <svg class="gauge t-none" viewBox="0 0 100 100" role="img" aria-label="Not monitored yet">
      <path class="unset" d={RING} />
    </svg>
  );
}
