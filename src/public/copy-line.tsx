import { toIso } from "../base/time";
import type { PageContext } from "./page-context";
import type { StaticCopy } from "./page-paths";

interface CopyProps {
  copy: StaticCopy;
  context: Pick<PageContext, "times">;
}

/** Strip above a copy: the time at which it was made, and a link to the live document. */
export function CopyLine({ url, ...props }: CopyProps & { url: string }) {
  return (
    <aside class="strip t-maint" aria-label="Age of this copy">
      <CopyAge {...props} /> <a href={url}>Open the live page</a>
    </aside>
  );
}

/**
 * Time at which a copy was made. A script replaces it by the age of the copy, and adds a warning to a copy of five
 * minutes or more.
 */
export function CopyAge({ copy, context: { times } }: CopyProps) {
  const iso = toIso(copy.madeAt);
  return (
    <>
      <time dateTime={iso} data-made-at>
        Copy made {times.clock(iso)} on {times.day(iso)}
      </time>
      . <span role="status" data-copy-old />
    </>
  );
}
