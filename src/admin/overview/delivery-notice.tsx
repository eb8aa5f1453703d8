import { type Role, roleAllows } from "../../domain/role";
import { plural } from "../../kernel/text";
import { toIso } from "../../kernel/time";
import { RelativeTime, Notice } from "../../ui";
import { WEBHOOKS_PATH, webhookPath } from "../paths";
import type { DeliveryTrouble } from "../webhooks/read";

/** Number of failing webhooks listed by name; the rest are counted. */
const NAMED = 5;

interface DeliveryNoticeProps {
  troubles: readonly DeliveryTrouble[];
  role: Role;
  now: number;
}

/** Warns about failing webhooks. Admins see which ones; other roles see only that some fail. */
export function DeliveryNotice({ troubles, role, now }: DeliveryNoticeProps) {
  if (troubles.length === 0) return null;
  const hasDisabled = troubles.some(({ disabledReason }) => disabledReason !== undefined);
  const mayMend = roleAllows(role, "admin");
  return (
    <Notice
      tone={hasDisabled ? "danger" : "warning"}
      title={`Events do not reach ${plural(troubles.length, "webhook")}`}
    >
      {mayMend ? (
        <ul class="plain-list">
          {troubles.slice(0, NAMED).map((trouble) => (
            <li key={trouble.id}>
              <a href={webhookPath(trouble.id)}>{trouble.name}</a>{" "}
              <Trouble trouble={trouble} now={now} />
            </li>
          ))}
          {troubles.length > NAMED ? (
            <li>
              <a href={WEBHOOKS_PATH}>and {troubles.length - NAMED} more</a>
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
      has not taken {plural(waiting.count, "event")}, the oldest queued{" "}
      <RelativeTime at={toIso(waiting.oldestAt)} now={now} />.
    </>
  );
}
