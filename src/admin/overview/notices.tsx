import type { ComponentChildren } from "preact";
import { STORAGE_FAULTS, type StorageFault } from "../../db/errors";
import type { StorageState } from "../../db/storage-watch";
import type { Alarm } from "../../features/alarms/alarms";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { Notice } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";
import { safeHref } from "../../ui/buttons";
import { FLEET_PATH } from "../../ui/frame/paths";

/** Shown after the remedies of faults that end without a restart. */
const RECOVERY =
  "Status pages are still served. Changes are stored again without a restart when the fault is removed.";

const RESTORE = (
  <>
    Stop the server and restore a backup with <code>allclear restore FILE</code>.
  </>
);

/** Instructions by storage fault, shown after its description. */
const REMEDIES: Record<StorageFault, ComponentChildren> = {
  disk_full: `Free some space on the disk of the data directory. ${RECOVERY}`,
  disk_error: `Check the disk of the data directory; the log has the errors. ${RECOVERY}`,
  read_only: `Make the data directory and the files in it writable for the server. ${RECOVERY}`,
  locked: `End the other process that writes to the database. ${RECOVERY}`,
  damaged: RESTORE,
  moved: "Move the data directory back. If you replaced it on purpose, restart the server.",
  failing: "The log has the errors.",
};

/** Warns that changes cannot be stored, with the reason, or that the database is damaged. */
export function StorageNotice({ storage: { fault, isDamaged } }: { storage: StorageState }) {
  if (fault !== undefined) {
    return (
      <Notice tone="major" title="Changes cannot be stored">
        {STORAGE_FAULTS[fault]} {REMEDIES[fault]}
      </Notice>
    );
  }
  if (!isDamaged) return null;
  return (
    <Notice tone="major" title="The database is damaged">
      Parts of the database file cannot be read. {RESTORE}
    </Notice>
  );
}

/** Warns that the server stands still too often to judge targets; nothing otherwise. */
export function BusyNotice({ isTooBusy }: { isTooBusy: boolean }) {
  return (
    <div class="alarms" id="busy" data-live="">
      {isTooBusy ? (
        <Notice tone="partial" title="This machine is too busy to judge">
          For more than a minute, Allclear has stood still again and again, so its checks may fail
          although their targets are well. Each is repeated once, and the second result counts. End
          other programs on this machine, give it more processors or a faster disk, or move Allclear
          to another one.
        </Notice>
      ) : null}
    </div>
  );
}

/** Maximum number of alarms shown; further ones are counted. */
const ALARMS_SHOWN = 3;

/** Alarms of the network, the mirror, the CDN and the fleet, worst first; nothing without one. */
export function AlarmNotices({ alarms, now }: { alarms: readonly Alarm[]; now: number }) {
  const more = alarms.length - ALARMS_SHOWN;
  const link = <a href={safeHref(FLEET_PATH)}>Fleet</a>;
  return (
    <div class="alarms" id="alarms" data-live="">
      {alarms.slice(0, ALARMS_SHOWN).map(({ kind, name, tone, detail, since }) => (
        <Notice key={kind} tone={tone} title={name}>
          {detail}
          {kind === "network_lost" ? null : (
            <>
              {" "}
              Since <RelativeTime at={toIso(since)} now={now} />. See {link}.
            </>
          )}
        </Notice>
      ))}
      {more > 0 ? (
        <Notice tone="none">
          {plural(more, "more alarm")}: see {link}.
        </Notice>
      ) : null}
    </div>
  );
}
