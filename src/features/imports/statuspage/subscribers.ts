import type { ForeignObject, ImportReport } from "../../../base/import-report";
import { guarded, toCsvLine } from "../../../base/csv";
import { plural } from "../../../base/text";
import type { LeftOut, OutputFile } from "../source";
import { cutName } from "../texts";
import { isObject } from "./document";

/** Subscriber who gets mail. */
interface MailSubscriber {
  email: string;
  /** Ids of components at Statuspage; empty for the whole page. */
  components: readonly string[];
}

/** Subscribers of a page, by the way in which they are notified. */
export interface Subscribers {
  byMail: readonly MailSubscriber[];
  /** Numbers of the others. */
  others: ReadonlyMap<string, number>;
}

/** Separates subscribers by mail from others. */
export function subscribersIn(entries: readonly unknown[]): Subscribers {
  const byMail: MailSubscriber[] = [];
  const others = new Map<string, number>();
  for (const entry of entries) {
    const { email, mode, components } = isObject(entry) ? entry : {};
    if (typeof email === "string" && email !== "" && (mode ?? "email") === "email") {
      const ids = Array.isArray(components) ? (components as unknown[]) : [];
      byMail.push({ email, components: ids.filter((id) => typeof id === "string") });
    } else {
      const word = typeof mode === "string" ? cutName(mode, "unknown", 40) : "unknown";
      others.set(word, (others.get(word) ?? 0) + 1);
    }
  }
  return { byMail, others };
}

/** Lists the subscribers who cannot be moved, by the way in which they are notified. */
export function subscribersLeftOut({ others }: Subscribers): LeftOut[] {
  return [...others].map(([mode, count]) => ({
    foreign: foreignOfSubscriber(mode, `${plural(count, "subscriber")} by ${mode}`),
    reason: "Only subscribers by e-mail can be moved.",
  }));
}

/** Says how subscribers can be moved that were not read. */
export function subscribersNotRead(hasKey: boolean): LeftOut {
  const reason = hasKey
    ? "Import again with --subscribers, which writes a file for `allclear subscriber import`."
    : "Only the REST API has them. Import again with --api-key-file and --subscribers.";
  return { foreign: foreignOfSubscriber("all", "Subscribers"), reason };
}

function foreignOfSubscriber(id: string, name: string): ForeignObject {
  return { type: "subscribers", id, name };
}

/**
 * Returns a file with the subscribers by mail, for `subscriber import`. The report has the refs of their components.
 * Those whose components are all gone are left out.
 */
export function subscribersFile(
  path: string,
  { byMail }: Subscribers,
  { items }: Pick<ImportReport, "items">,
): OutputFile {
  const refs = new Map(
    items.flatMap(({ foreign, target }) =>
      foreign.type === "component" && target?.ref ? [[foreign.id, target.ref] as const] : [],
    ),
  );
  let text = toCsvLine(["email", "components"]);
  let left = 0;
  for (const { email, components } of byMail) {
    const chosen = components.flatMap((id) => refs.get(id) ?? []);
    if (components.length > 0 && chosen.length === 0) left += 1;
    else text += toCsvLine([guarded(email), chosen.join(";")]);
  }
  const written = `Wrote ${plural(byMail.length - left, "subscriber")} to ${path}`;
  const gone = left > 0 ? `, without ${left} whose components are gone` : "";
  const next = `Next: allclear subscriber import ${path}, with --page and --consent.`;
  return { path, text, summary: `${written}${gone}. ${next}` };
}
