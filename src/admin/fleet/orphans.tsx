import { type SetAside, setAsideId } from "../../features/alarms/orphans";
import { plural } from "../../base/text";
import { Button } from "../../ui/buttons";
import { DetailCard, DetailRow } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { FLEET_PATH } from "../../ui/frame/paths";

interface OrphansProps {
  orphans: readonly SetAside[];
  /** True for owners. */
  canDismiss: boolean;
}

/** Events of earlier primaries that the present history lacks, by database. */
export function OrphansCard({ orphans, canDismiss }: OrphansProps) {
  return (
    <DetailCard title="Changes of earlier primaries" liveId="fleet-orphans" isFlush>
      <ul class="detail-rows">
        {orphans.map((one) => (
          <DetailRow
            key={setAsideId(one)}
            shape={<Icon name="server" />}
            title={`${plural(one.events, "event")} on ${one.node}`}
            note={
              <>
                List them with <code>allclear fleet orphans {one.file}</code> on that node.
              </>
            }
            end={canDismiss ? <Dismiss of={one} /> : undefined}
          />
        ))}
      </ul>
    </DetailCard>
  );
}

function Dismiss({ of }: { of: SetAside }) {
  return (
    <form method="post" action={`${FLEET_PATH}/orphans`}>
      <Button name="database" value={setAsideId(of)}>
        Dismiss events
      </Button>
    </form>
  );
}
