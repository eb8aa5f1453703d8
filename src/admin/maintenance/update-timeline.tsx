import type { Author } from "../../events";
import type { Maintenance } from "../../features/maintenance";
import { MarkdownText } from "../../public/text";
import { MAINTENANCE_WORDS } from "../../public/words";
import { Timeline } from "../../ui";

interface UpdateTimelineProps {
  maintenance: Maintenance;
  /** Authors by update id. */
  authors: ReadonlyMap<string, Author>;
  /** Unix ms. */
  now: number;
}

/** Updates of a maintenance, newest first, with their authors if known. */
export function UpdateTimeline({ maintenance, authors, now }: UpdateTimelineProps) {
  return (
    <Timeline
      now={now}
      items={maintenance.updates.map(({ id, status, body, display_at: at }) => {
        const author = authors.get(id);
        return {
          title: MAINTENANCE_WORDS[status],
          at,
          ...(status === "completed" ? { status: "operational" as const } : {}),
          body: (
            <>
              <MarkdownText source={body} topHeading={3} />
              {author ? <p class="muted">{byLine(author)}</p> : null}
            </>
          ),
        };
      })}
    />
  );
}

function byLine({ kind, label }: Author): string {
  if (kind === "system") return "Written automatically.";
  if (kind === "cli") return "Written by the command line.";
  return kind === "key" ? `Written by the API key “${label}”.` : `Written by ${label}.`;
}
