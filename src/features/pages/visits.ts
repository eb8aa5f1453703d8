/*
 * Visits of private pages: the rules of each page in memory, grants that remember by which rule a visitor came in, and
 * the last use of links.
 */
import ipaddr from "ipaddr.js";
import type { ClientAddress } from "../../base/client-address";
import type { Timer } from "../../base/clock";
import { isInNetworks, type Network, parseNetworks } from "../../base/config/parse";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader } from "../../db/statements";
import { GRANT_KEY } from "../../db/tables/page-access";
import { hashToken } from "../auth/sessions";
import { findSetting } from "../settings/store";
import { isPageLinkLive } from "./rules";
import { listLinksOfPage, type PageLinkRow, setLinkUse } from "./access-store";
import { findPage } from "./store";

/** Lifetime of a grant, in days. That of a link with an end is shorter. */
export const GRANT_DAYS = 30;
const GRANT_MS = GRANT_DAYS * DAY_MS;

/**
 * A page as it is kept until it changes, such as that of a snapshot. Its rules are read once for each object: a change of
 * the page or of its rules makes another one.
 */
export type VisitedPage = Readonly<{ id: string }>;

/** Value of a cookie that lets a visitor in again. */
export interface Grant {
  value: string;
  maxAgeSeconds: number;
}

export interface Visits {
  /** Returns true for a page with at least one rule. */
  hasRules(page: VisitedPage): boolean;
  /** Returns true for a page with a password. */
  hasPassword(page: VisitedPage): boolean;
  /** Returns true for an address in the networks of a page that is certain to be that of the client. */
  admitsAddress(page: VisitedPage, address: ClientAddress): boolean;
  /** Returns the link of a page that has a token and works at `now` (unix ms); undefined without one. */
  findLink(page: VisitedPage, token: string, now: number): PageLinkRow | undefined;
  /** Returns a grant by the password or by a link of a page, by the id of that rule. `now` is in unix ms. */
  grant(page: VisitedPage, ruleId: string, now: number): Grant;
  /** Returns true for the value of a grant for the page whose rule still lets visitors in at `now` (unix ms). */
  admitsGrant(page: VisitedPage, value: string, now: number): boolean;
  /** Notes that a link was used at `now` (unix ms). Uses are written once an hour. */
  noteUse(linkId: string, now: number): void;
  /** Returns the last use of a link that is not written yet, in unix ms. */
  lastUseOf(linkId: string): number | undefined;
  /** Writes the uses of links. They are kept for the next time if the write fails. */
  flush(): Promise<void>;
}

/** Rules of a page. */
interface Rules {
  networks: readonly Network[];
  passwordId: string | null;
  links: readonly PageLinkRow[];
  /** Links by the hashes of their tokens, in hexadecimal. */
  byHash: ReadonlyMap<string, PageLinkRow>;
  /** Key that signs grants; undefined if no page has a password or a link yet. */
  key: Uint8Array | undefined;
}

export function createVisits(ctx: Ctx): Visits {
  const known = new WeakMap<VisitedPage, Rules>();
  const uses = createLinkUses(ctx);

  function rulesOf(page: VisitedPage): Rules {
    let rules = known.get(page);
    if (!rules) known.set(page, (rules = readRules(ctx.db, page)));
    return rules;
  }

  return {
    hasRules(page) {
      const { networks, passwordId, links } = rulesOf(page);
      return passwordId !== null || networks.length > 0 || links.length > 0;
    },
    hasPassword: (page) => rulesOf(page).passwordId !== null,
    admitsAddress(page, { ip, isDoubtful }) {
      const { networks } = rulesOf(page);
      if (networks.length === 0 || isDoubtful !== false) return false;
      return isInNetworks(ipaddr.parse(ip), networks);
    },
    findLink(page, token, now) {
      const link = rulesOf(page).byHash.get(hashToken(token)?.toString("hex") ?? "");
      return link && isPageLinkLive(link, now) ? link : undefined;
    },
    grant(page, ruleId, now) {
      const { key, links } = rulesOf(page);
      if (!key) throw new Error("there is no key for grants, although the page has a rule");
      const end = links.find(({ id }) => id === ruleId)?.expiresAt ?? Number.POSITIVE_INFINITY;
      const maxAgeSeconds = Math.floor((Math.min(now + GRANT_MS, end) - now) / SECOND_MS);
      const expiry = (Math.floor(now / SECOND_MS) + maxAgeSeconds).toString(36);
      const mac = macOf(key, page, ruleId, expiry).toString("base64url");
      return { value: `${ruleId}.${expiry}.${mac}`, maxAgeSeconds };
    },
    admitsGrant(page, value, now) {
      const [, ruleId = "", expiry = "", mac = ""] = GRANT.exec(value) ?? [];
      const rules = rulesOf(page);
      if (!rules.key || !isLive(rules, ruleId, now)) return false;
      if (now >= Number.parseInt(expiry, 36) * SECOND_MS) return false;
      const expected = macOf(rules.key, page, ruleId, expiry);
      return crypto.timingSafeEqual(Buffer.from(mac, "base64url"), expected);
    },
    ...uses,
  };
}

/** Reads the rules of a page. A page that was deleted has none. */
function readRules(reader: Reader, { id }: VisitedPage): Rules {
  const page = findPage(reader, { id });
  const links = page?.hasLinks ? listLinksOfPage(reader, { pageId: id }) : [];
  return {
    networks: page ? page.networks.flatMap(parseNetworks) : [],
    passwordId: page?.passwordId ?? null,
    links,
    byHash: new Map(links.map((link) => [link.hash.toString("hex"), link])),
    key: findGrantKey(reader),
  };
}

/** Returns true while the rule of a grant lets visitors in: the current password, or a link that works. */
function isLive({ passwordId, links }: Rules, ruleId: string, now: number): boolean {
  if (ruleId === passwordId) return true;
  const link = links.find(({ id }) => id === ruleId);
  return link !== undefined && isPageLinkLive(link, now);
}

/** Id of a rule, expiry in seconds since 1970 in base 36, and MAC of 32 bytes. */
const GRANT = /^([a-z]{3}_[0-9a-z]{26})\.([0-9a-z]{1,8})\.([\w-]{43})$/;

/** Returns the HMAC-SHA-256 of a grant: 32 bytes. */
function macOf(key: Uint8Array, { id }: VisitedPage, ruleId: string, expiry: string): Buffer {
  return new Bun.CryptoHasher("sha256", key).update(`${id}\n${ruleId}\n${expiry}`).digest();
}

/** Returns the key that signs grants; undefined until the first page has a password or a link. */
export function findGrantKey(reader: Reader): Uint8Array | undefined {
  const value = findSetting(reader, { name: GRANT_KEY })?.value;
  return typeof value === "string" ? Buffer.from(value, "base64") : undefined;
}

/** Gathers the last uses of links, and writes them an hour after the first one. */
function createLinkUses(ctx: Ctx): Pick<Visits, "noteUse" | "lastUseOf" | "flush"> {
  const pending = new Map<string, number>();
  let timer: Timer | undefined;

  async function flush(): Promise<void> {
    timer?.cancel();
    timer = undefined;
    if (pending.size === 0) return;
    const batch = [...pending];
    try {
      await ctx.db.write((tx) => {
        for (const [id, lastUsedAt] of batch) setLinkUse(tx, { id, lastUsedAt });
      });
      // A link may have been used again meanwhile.
      for (const [id, at] of batch) if (pending.get(id) === at) pending.delete(id);
    } catch (error) {
      ctx.log.warn(
        { err: error },
        "the use of links to private pages could not be written; it is kept for the next time",
      );
    }
    if (pending.size > 0) writeLater();
  }

  function writeLater(): void {
    timer ??= ctx.clock.after(HOUR_MS, () => void flush());
  }

  return {
    noteUse(linkId, now) {
      pending.set(linkId, now);
      writeLater();
    },
    lastUseOf: (linkId) => pending.get(linkId),
    flush,
  };
}
