import { type Static, Type } from "@sinclair/typebox";
import { type PageMailSettings, parseMailAddress } from "../../base/mail-address";
import { LineText } from "../../base/texts";
import { Nullable, OneOf, Text } from "../../base/schema";
import type { PageRow } from "./store";

/** Maximum length of the text at the end of each mail, in code points. */
export const MAIL_FOOTER_MAX = 500;

const DEFAULTS: PageMailSettings = {
  subscriptions: true,
  from_name: null,
  reply_to: null,
  subject: "thread",
  footer: null,
};

const AddressText = Text({
  maxLength: 254,
  check(value) {
    const parsed = parseMailAddress(value);
    return "error" in parsed ? parsed.error : undefined;
  },
});

/** Settings of a page about e-mail, all optional. */
export const PageMailInput = Type.Object(
  {
    subscriptions: Type.Optional(Type.Boolean()),
    from_name: Type.Optional(Nullable(LineText({ minLength: 1, maxLength: 255 }))),
    reply_to: Type.Optional(Nullable(AddressText)),
    subject: Type.Optional(OneOf(["thread", "status"])),
    footer: Type.Optional(Nullable(Text({ minLength: 1, maxLength: MAIL_FOOTER_MAX }))),
  },
  { additionalProperties: false },
);

export type PageMailInput = Static<typeof PageMailInput>;

/** Returns settings with the defaults of those that are left out. */
export function fullMailSettings(input: PageMailInput | undefined): PageMailSettings {
  const { reply_to: replyTo, ...others } = { ...DEFAULTS, ...input };
  const parsed = replyTo === null ? undefined : parseMailAddress(replyTo);
  return { ...others, reply_to: parsed && "address" in parsed ? parsed.address : replyTo };
}

/** Returns the settings of a page about e-mail. */
export function mailSettingsOf({ mail }: Pick<PageRow, "mail">): PageMailSettings {
  return { ...DEFAULTS, ...mail };
}

/** Returns true if visitors can subscribe to a page by e-mail, once mail is set up. */
export function takesSubscribers(
  page: Pick<PageRow, "mail" | "visibility" | "isSample" | "deletedAt">,
): boolean {
  return (
    page.visibility === "public" &&
    !page.isSample &&
    page.deletedAt === null &&
    mailSettingsOf(page).subscriptions
  );
}
