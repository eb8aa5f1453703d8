import { toRef } from "../../../base/text";
import type { FoundGroup, FoundPage, ForeignKey } from "../source";
import { keyOf } from "../source";
import { cutName, cutText, textChange } from "../texts";
import { DESCRIPTION_MAX } from "../../../base/texts";
import type { CONFIG } from "./document";
import type { Values } from "./fields";

export type Config = Values<typeof CONFIG>;

/** The only page of a configuration. */
export const PAGE = { type: "page", id: "page" } as const;

const NAME = "Status";
/** Slug without a title. The server itself has the path `/status`. */
const SLUG = "status-page";

/** Returns the page. Those of Gatus that ask for a sign-in become private. */
export function pageOf({ ui, security }: Config): FoundPage {
  const name = ui?.title?.trim() || NAME;
  const description = ui?.description ?? "";
  const text = cutText(description, DESCRIPTION_MAX);
  const reason = `Descriptions have at most ${DESCRIPTION_MAX} characters.`;
  const link = ui?.link
    ? [
        {
          field: "ui.link",
          from: ui.link,
          to: null,
          reason: "The logo of a page leads to the page.",
        },
      ]
    : [];
  return {
    foreign: { ...PAGE, name: cutName(name, NAME) },
    body: {
      slug: toRef(ui?.title ?? "") || SLUG,
      name,
      description: text || null,
      visibility: security === undefined ? "public" : "private",
      compat: ["gatus"],
    },
    changes: [...textChange("ui.description", description, text, reason), ...link],
    isDefault: true,
    domains: [],
    logo: null,
    number: null,
  };
}

/** Returns the key of a group. */
export function groupOf(group: string): ForeignKey {
  return keyOf({ type: "group", id: group });
}

/** Returns the groups, in the order in which they are first named. */
export function groupsOf(names: readonly string[]): FoundGroup[] {
  const all = [...new Set(names.filter((name) => name.trim() !== ""))];
  return all.map((name) => ({
    foreign: { type: "group", id: name, name: cutName(name, "Unnamed group") },
    body: { name: name.trim() },
    changes: [],
    page: keyOf(PAGE),
    number: null,
  }));
}
