import type { RelayRecord } from "../../features/mail";
import { toIso } from "../../kernel/time";
import { Notice, RelativeTime } from "../../ui";

/** Notice while the relay takes no mail, with its last reply. */
export function RelayNotice({ relay, now }: { relay: RelayRecord | undefined; now: number }) {
  if (!relay || relay.isAvailable) return null;
  return (
    <Notice tone="partial" title="The mail relay is unavailable">
      Since <RelativeTime at={toIso(relay.since)} now={now} />: {relay.reply} Mails wait and are
      sent once it is available again.
    </Notice>
  );
}
