import type { ComponentChildren } from "preact";
import { STORAGE_FAULTS, type StorageFault, type StorageState } from "../../db";
import { type Role, roleAllows } from "../../domain/role";
import { plural } from "../../kernel/text";
import { toIso } from "../../kernel/time";
import { Notice, RelativeTime } from "../../ui";
import { WEBHOOKS_PATH, webhookPath } from "../paths";
import type { DeliveryTrouble } from "../webhooks/read";

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

/** Number of failing webhooks listed by name; the rest are counted. */
const NAMED_MAX = 5;

interface DeliveryNoticeProps {
  troubles: readonly DeliveryTrouble[];
  role: Role;
  now: number;
}

/** Warns about failing webhooks. Admins see which ones; other roles see only that some fail. */
export function DeliveryNotice({ troubles, role, now }: DeliveryNoticeProps) {
  if (troubles.length === 0) return null;
  const hasDisabled = troubles.some(({ disabledReason }) => disabledReason !== undefined);
  const canRepair = roleAllows(role, "admin");
  return (
    <Notice
      tone={hasDisabled ? "major" : "partial"}
      title={`Events do not reach ${plural(troubles.length, "webhook")}`}
    >
      {canRepair ? (
        <ul class="plain-list">
          {troubles.slice(0, NAMED_MAX).map((trouble) => (
            <li key={trouble.id}>
              <a href={webhookPath(trouble.id)}>{trouble.name}</a>{" "}
              <Trouble trouble={trouble} now={now} />
            </li>
          ))}
          {troubles.length > NAMED_MAX ? (
            <li>
              <a href={WEBHOOKS_PATH}>and {troubles.length - NAMED_MAX} more</a>
            </li>
          ) : null}
        </ul>
      ) : (
        "Some programs or channels do not receive notifications. Ask an admin to check the webhooks."
      )}
    </Notice>
  );
}

function Trouble({ trouble, now }: { trouble: DeliveryTrouble; now: number }) {
  const { disabledReason, waiting } = trouble;
  if (!waiting) return <>was disabled. {disabledReason}</>;
  return (
    <>
      has {plural(waiting.count, "pending event")}, the oldest queued{" "}
      <RelativeTime at={toIso(waiting.oldestAt)} now={now} />.
    </>
  );
}
