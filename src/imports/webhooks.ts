import { formatNetwork, parseNetworks } from "../base/config/parse";
import { validate } from "../base/validation";
import { parseWebUrl } from "../base/web-url";
import { ANY_MONITOR } from "../base/webhook";
import type { Egress } from "../egress/egress";
import { Fault } from "../egress/model";
import { hostError, parseHost, webhookPolicy } from "../egress/policy";
import { isOpenToEvents } from "../features/webhooks/recipient";
import { findWebhook, type WebhookRow } from "../features/webhooks/store";
import { createWebhook, updateWebhook } from "../features/webhooks/webhooks";
import { CreateWebhookBody, UpdateWebhookBody } from "../features/webhooks/wire";
import type { Found, FoundWebhook } from "./found";
import type { Notes } from "./kit";
import { fitDescription, idsOf, knownOf, type Writer, type Written } from "./objects";
import { requirePage } from "./pages";
import type { ImportRun } from "./run";

/** Networks of all addresses. Those that no request may reach stay forbidden. */
const ALL = parseNetworks("0.0.0.0/0,::/0");

const UNCONFIRMED =
  "Its address has to confirm that it wants alerts. Ask it on the page of the webhook.";

/** Imports webhooks without notifying their receivers, and collects the networks that have to be allowed. */
export class WebhookImport implements Writer<FoundWebhook, WebhookRow> {
  readonly kind = "webhook";
  readonly #run: ImportRun;
  readonly #forbidden = new Set<string>();

  constructor(run: ImportRun) {
    this.#run = run;
  }

  find(id: string): WebhookRow | undefined {
    return findWebhook(this.#run.tx, { id });
  }

  markOf({ version }: WebhookRow): number {
    return version;
  }

  settingsOf({ body, disabled, page = null, monitors }: FoundWebhook): unknown {
    const run = this.#run;
    const ofMonitors = monitors === "all" ? monitors : knownOf(run, monitors);
    return { body, disabled, page: page && knownOf(run, [page]), monitors: ofMonitors };
  }

  create(found: FoundWebhook, notes: Notes): Written<WebhookRow> {
    const { tx, actor, options } = this.#run;
    const { input, isSwitchedOff, reasons, ctx } = this.#fit(found, notes);
    const enabled = !isSwitchedOff && !options.isPaused;
    const metadata = { managedBy: "import", isSilent: true } as const;
    const body = validate(CreateWebhookBody, { ...input, enabled });
    const { row } = createWebhook(ctx, tx, body, actor, metadata);
    return this.#written(row, reasons, options.isPaused && !isSwitchedOff);
  }

  update(
    found: FoundWebhook,
    notes: Notes,
    before: WebhookRow,
    noted: { pausedBy: string | null },
  ): Written<WebhookRow> {
    const { tx, actor, options } = this.#run;
    const { input, isSwitchedOff, reasons, ctx } = this.#fit(found, notes);
    const canWait = !before.enabled && (noted.pausedBy !== null || options.isPaused);
    const isWaiting = canWait && !isSwitchedOff;
    const { secret: _, settings = {}, format = "standard", ...others } = input;
    const removed = format === before.format ? Object.keys(before.settings) : [];
    const cleared = Object.fromEntries(removed.map((name) => [name, null]));
    const change = {
      ...others,
      format,
      settings: { ...cleared, ...settings },
      enabled: !isSwitchedOff && !isWaiting,
    };
    const body = validate(UpdateWebhookBody, change);
    const { row } = updateWebhook(ctx, tx, before.id, body, actor, { isSilent: true });
    return this.#written(row, reasons, isWaiting);
  }

  /** Adds the instruction by which forbidden receivers are allowed. */
  finish(): void {
    if (this.#forbidden.size === 0) return;
    const networks = parseNetworks([...this.#forbidden].join(","));
    const { outboundAllow = [] } = this.#run.ctx.config;
    const value = [...outboundAllow, ...networks].map(formatNetwork).join(",");
    this.#run.addToDo(
      `To let webhooks reach their receivers, set ALLCLEAR_OUTBOUND_ALLOW=${value} or add the networks in Settings → General → Allowed networks, and enable the webhooks.`,
    );
  }

  /** Returns the fields of a webhook with its page and monitors, and the reasons for which it is switched off. */
  #fit({ body, disabled, page = null, monitors }: FoundWebhook, notes: Notes) {
    const run = this.#run;
    const description = fitDescription(notes, body.description);
    const addresses = this.#forbiddenAddresses(body.url);
    const reasons = disabled === undefined ? [] : [disabled];
    for (const address of addresses) this.#forbidden.add(address);
    if (addresses.length > 0) {
      const [host = ""] = addresses;
      reasons.push(`Webhooks may not reach ${host}: allow its network, and enable it.`);
    }
    const input = {
      ...body,
      description,
      page: page === null ? null : requirePage(run, page).id,
      monitors: monitors === "all" ? [ANY_MONITOR] : idsOf(run, monitors),
    };
    // A receiver that is not allowed yet is stored, and no request reaches it.
    const ctx = addresses.length > 0 ? { ...run.ctx, allowedNetworks: ALL } : run.ctx;
    return { input, isSwitchedOff: body.enabled === false || reasons.length > 0, reasons, ctx };
  }

  /** Returns the addresses of a receiver that this installation may not reach and could allow. */
  #forbiddenAddresses(url: string): string[] {
    const host = hostIn(url);
    if (!host) return [];
    const { allowedNetworks } = this.#run.ctx;
    const known = this.#run.options.receivers?.get(host.name) ?? [];
    const addresses = host.isAddress ? [host.name] : known;
    return addresses.filter(
      (address) =>
        hostError(address, webhookPolicy(allowedNetworks)) !== undefined &&
        hostError(address, webhookPolicy(ALL)) === undefined,
    );
  }

  #written(row: WebhookRow, reasons: readonly string[], isWaiting: boolean): Written<WebhookRow> {
    const all = isOpenToEvents(this.#run.tx, row) ? reasons : [...reasons, UNCONFIRMED];
    return { row, disabled: all.join(" ") || undefined, isWaiting };
  }
}

/** Maximum number of names that are resolved, and of milliseconds for all of them. */
const HOSTS_MAX = 100;
const TIMEOUT_MS = 1_000;

/** Services whose addresses are public. Their names need no look-up. */
const PUBLIC =
  /^(?:hooks\.slack\.com|discord(?:app)?\.com|api\.telegram\.org|ntfy\.sh|.+\.(?:logic\.azure|webhook\.office)\.com)$/;

/**
 * Resolves the names of the receivers of webhooks, so that an import can name those that are not allowed. Returns the
 * addresses by name; names that cannot be resolved are left out, since every delivery resolves them again.
 */
export async function findReceivers(
  egress: Pick<Egress, "resolve">,
  { webhooks }: Pick<Found, "webhooks">,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Set(webhooks.flatMap(({ body }) => nameOf(body.url) ?? []));
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const resolved = await Promise.all(
    [...names].slice(0, HOSTS_MAX).map(async (host) => {
      // Private addresses are what has to be found.
      const addresses = await egress.resolve({ host, policy: "monitor", signal });
      return addresses instanceof Fault ? [] : [[host, addresses] as const];
    }),
  );
  return new Map(resolved.flat());
}

/** Returns the name in a URL; undefined for an address, a public service, and other texts. */
function nameOf(url: string): string | undefined {
  const host = hostIn(url);
  return host && !host.isAddress && !PUBLIC.test(host.name) ? host.name : undefined;
}

function hostIn(text: string) {
  const url = parseWebUrl(text);
  return url && parseHost(url.hostname);
}
