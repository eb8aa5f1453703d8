import type { AppContext } from "../../context";
import type { Reader } from "../../db";
import type { SubscriberEvent } from "../../domain/mail";
import { mailReadiness } from "../../features/mail";
import { type Audience, countAudience, countAudienceOf } from "../../features/mailings";
import type { PageRow } from "../../features/pages";
import { plural } from "../../kernel/text";

type Services = Pick<AppContext, "baseUrl" | "config" | "db">;
type MailedPage = Pick<PageRow, "id" | "visibility" | "isSample">;

/**
 * Returns the sentence about the subscribers who get a mail about components, such as "E-mails 1,240 of 3,100
 * subscribers."; undefined if none can get one.
 */
export function audienceText(
  ctx: Services,
  page: MailedPage,
  choice: SubscriberEvent,
  componentIds: readonly string[],
): string | undefined {
  if (!isMailed(ctx, page)) return undefined;
  const audience = countAudience(ctx.db, { pageId: page.id, choice, componentIds });
  return textOf(audience, componentIds.length === 0);
}

/** Returns that sentence for the next update of an incident or a maintenance. */
export function audienceTextOf(
  ctx: Services,
  reader: Reader,
  page: MailedPage,
  subject: { id: string; kind: "incident" | "maintenance" },
): string | undefined {
  const audience = isMailed(ctx, page)
    ? countAudienceOf(reader, { ...subject, pageId: page.id })
    : undefined;
  return audience && textOf(audience, audience.namesNone);
}

function isMailed(ctx: Services, { visibility, isSample }: MailedPage): boolean {
  return visibility === "public" && !isSample && mailReadiness(ctx).ready;
}

function textOf(audience: Audience, namesNone: boolean): string | undefined {
  const { total, reached, isExact, selections } = audience;
  if (total === 0) return undefined;
  const most = isExact ? "" : "up to ";
  const text = `E-mails ${most}${reached.toLocaleString("en")} of ${plural(total, "subscriber")}.`;
  if (!namesNone || selections === 0) return text;
  const others =
    selections === 1
      ? "1 who chose components gets"
      : `${selections.toLocaleString("en")} who chose components get`;
  return `${text} It names no component, so ${others} none.`;
}
