import type { Ctx } from "../../context";
import type { Reader } from "../../db/statements";
import type { SubscriberEvent } from "../../domain/mail";
import { findMailHold } from "../../features/mail/hold";
import { mailReadiness } from "../../features/mail/settings";
import { type Audience, countAudience, countAudienceOf } from "../../features/mailings/audience";
import { mailingsLeft } from "../../features/mailings/record";
import type { PageRow } from "../../features/pages/store";
import type { Form } from "../../http/form-body";
import { plural } from "../../kernel/text";

type MailedPage = Pick<PageRow, "id" | "visibility" | "isSample">;

/** Sentences about the subscribers who get a mail. */
export interface AudienceNote {
  /** For the components of the form as it was sent, such as "E-mails 1,240 of 3,100 subscribers." */
  exact: string;
  /** For any components; undefined if they make no difference. */
  most: string | undefined;
}

/** Returns the sentences for a mail about components; undefined if no subscriber can get one. */
export function audienceNote(
  ctx: Ctx,
  page: MailedPage,
  choice: SubscriberEvent,
  componentIds: readonly string[],
): AudienceNote | undefined {
  if (!isMailed(ctx, page)) return undefined;
  const audience = countAudience(ctx.db, { pageId: page.id, choice, componentIds });
  return noteOf(audience, componentIds.length === 0, leftNote(ctx, ctx.db, page));
}

/**
 * Returns the sentences for the next update of an incident or a maintenance. `further` are components that it
 * names besides earlier ones.
 */
export function audienceNoteOf(
  ctx: Ctx,
  reader: Reader,
  page: MailedPage,
  subject: { id: string; kind: "incident" | "maintenance" },
  further: readonly string[] = [],
): AudienceNote | undefined {
  const audience = isMailed(ctx, page)
    ? countAudienceOf(reader, { ...subject, pageId: page.id }, further)
    : undefined;
  return audience && noteOf(audience, audience.namesNone, leftNote(ctx, reader, page));
}

function isMailed(ctx: Ctx, { visibility, isSample }: MailedPage): boolean {
  return visibility === "public" && !isSample && mailReadiness(ctx).ready;
}

/** Number of mailings that people have left on a page from which on the forms say it. */
const LEFT_SHOWN = 20;

/** Returns a sentence if mailings are held, or if people have few left today; else an empty text. */
function leftNote({ clock }: Ctx, reader: Reader, { id: pageId }: MailedPage): string {
  if (findMailHold(reader)) return " All mailings are held until an admin releases them.";
  const left = mailingsLeft(reader, { pageId, author: "person", now: clock.now() });
  if (left > LEFT_SHOWN) return "";
  if (left > 0) return ` ${plural(left, "more mailing")} can go out today.`;
  return " No more mailings can go out today, so this one waits for an admin.";
}

function noteOf(audience: Audience, namesNone: boolean, left: string): AudienceNote | undefined {
  const { total, reached, isExact, selections, most } = audience;
  if (total === 0) return undefined;
  const subscribers = plural(total, "subscriber");
  const upTo = isExact ? "" : "up to ";
  const exact = `E-mails ${upTo}${reached.toLocaleString("en")} of ${subscribers}.`;
  if (selections === 0) return { exact: exact + left, most: undefined };
  const others =
    selections === 1
      ? "1 who chose components gets"
      : `${selections.toLocaleString("en")} who chose components get`;
  return {
    exact: (namesNone ? `${exact} It names no component, so ${others} none.` : exact) + left,
    most: `E-mails up to ${most.toLocaleString("en")} of ${subscribers}, depending on its components.${left}`,
  };
}

/** Value of the field `intent` with which a script sends a form to have its subscribers counted again. */
const COUNT_INTENT = "count";

/** Returns true for a form that is only sent to have its subscribers counted. */
export function isCounting(sent: Form): boolean {
  return sent.text("intent") === COUNT_INTENT;
}

/**
 * Sentence of a form in which components are chosen. A script shows the exact one, and counts again when the form
 * changes; without it, the sentence is true for any components.
 */
export function AudienceHint({ audience: { exact, most } }: { audience: AudienceNote }) {
  if (most === undefined) return <>{exact}</>;
  return (
    <span data-counted={exact} data-count-intent={COUNT_INTENT} aria-live="polite">
      {most}
    </span>
  );
}
