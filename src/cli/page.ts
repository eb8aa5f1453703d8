import { CLI_ACTOR } from "../base/actor";
import { optionNames } from "../base/config/options";
import { toIso, toIsoOrNull } from "../base/time";
import { validate } from "../base/validation";
import type { Reader } from "../db/statements";
import { createPasswords } from "../features/auth/passwords";
import { PagePasswordInput, setPagePassword } from "../features/pages/access";
import { listLinksOfPage } from "../features/pages/access-store";
import { isPageLinkLive } from "../features/pages/rules";
import type { PageRow } from "../features/pages/store";
import { type Command, type Invocation, JSON_FLAG, type Output, UsageError } from "./command";
import { printJson, printTable } from "./print";
import { examineFlags, findRealPage, withInstallation } from "./with-installation";

const SET_PASSWORD = "set-password";

const accessCommand: Command = {
  name: "page access",
  summary: "Print who sees the page SLUG, or set its password.",
  positionals: ["SLUG"],
  flags: [
    {
      name: SET_PASSWORD,
      placeholder: "-",
      help: "Set the password to the first line of standard input.",
    },
    JSON_FLAG,
  ],
  options: optionNames("page"),
  async run(invocation) {
    const { output, positionals } = invocation;
    const [slug = ""] = positionals;
    // Read and hashed before the data directory is opened.
    const hash = await readPasswordHash(invocation);
    return withInstallation(accessCommand, invocation, { canCreate: false }, async ({ ctx }) => {
      const page = findRealPage(ctx.db, slug, "which is public");
      const shown =
        hash === undefined
          ? page
          : await ctx.db.write((tx) => setPagePassword(ctx, tx, page.id, hash, CLI_ACTOR));
      const access = accessOf(ctx.db, shown);
      if (invocation.isSet("json")) printJson(output, access);
      else if (hash === undefined) printAccess(output, access, ctx.clock.now());
      else output.err(confirmationOf(shown));
    });
  },
};

export const pageCommands = [accessCommand];

/** Returns the hash of the password on standard input; undefined without the flag. Throws a UsageError. */
async function readPasswordHash({ isSet, value, input }: Invocation): Promise<string | undefined> {
  if (!isSet(SET_PASSWORD)) return undefined;
  // The value may be a password, which no error may repeat.
  if (value(SET_PASSWORD) !== "-") {
    throw new UsageError([
      `--${SET_PASSWORD} must be -, since other processes can read arguments: the password comes from standard input.`,
    ]);
  }
  const typed = await input.line();
  const fields = { flags: { password: "The password" } };
  const { password } = examineFlags(fields, () => validate(PagePasswordInput, { password: typed }));
  return createPasswords().hash(password);
}

/** Visibility and rules of a page, without secrets. */
interface PageAccess {
  page: string;
  visibility: PageRow["visibility"];
  has_password: boolean;
  networks: string[];
  links: {
    id: string;
    name: string;
    created_at: string;
    expires_at: string | null;
    last_used_at: string | null;
  }[];
}

function accessOf(reader: Reader, page: PageRow): PageAccess {
  return {
    page: page.slug,
    visibility: page.visibility,
    has_password: page.passwordId !== null,
    networks: page.networks,
    links: listLinksOfPage(reader, { pageId: page.id }).map((link) => ({
      id: link.id,
      name: link.name,
      created_at: toIso(link.createdAt),
      expires_at: toIsoOrNull(link.expiresAt),
      last_used_at: toIsoOrNull(link.lastUsedAt),
    })),
  };
}

function printAccess(output: Output, access: PageAccess, now: number): void {
  output.out(`Visibility: ${access.visibility}`);
  output.out(`Password: ${access.has_password ? "set" : "none"}`);
  output.out(`Networks: ${access.networks.join(", ") || "none"}`);
  if (access.links.length === 0) {
    output.out("Links: none");
    return;
  }
  output.out("Links:");
  const rows = access.links.map((link) => [
    link.id,
    link.name,
    stateOf(link.expires_at, now),
    link.last_used_at ? `used ${link.last_used_at}` : "never used",
  ]);
  printTable(output, ["ID", "NAME", "STATE", "LAST USED"], rows);
}

function stateOf(expires: string | null, now: number): string {
  if (expires === null) return "live";
  const isLive = isPageLinkLive({ expiresAt: Date.parse(expires) }, now);
  return `${isLive ? "until" : "expired"} ${expires}`;
}

function confirmationOf({ slug, visibility }: PageRow): string {
  const done = `Set the password of ${slug}.`;
  return visibility === "private" ? done : `${done} It has no effect while the page is public.`;
}
