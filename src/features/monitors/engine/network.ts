import type { Timer } from "../../../base/clock";
import { plural } from "../../../base/text";
import { MINUTE_MS, SECOND_MS, toIso } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { Contact } from "../../../egress/model";
import { outsideAddressOf } from "../../../egress/policy";
import type { Alarms } from "../../alarms/alarms";
import { deleteSetting, findSetting, putSetting } from "../../settings/store";
import type { ProbeResult } from "../monitoring";
import { isHeldStreak } from "../rules";
import type { MonitorRegistry, OutsideHost, ScheduledMonitor } from "./registry";
import type { Stalls } from "./stalls";

/** Number of hosts, and of networks that have none in common, that must fail together. */
const HOSTS_MIN = 3;

const NETWORKS_MIN = 2;

/** Longest hold. Then all held failures count. */
const HOLD_MAX_MS = 3 * MINUTE_MS;

/** Time after such a hold in which nothing is held. */
const REST_MS = 30 * MINUTE_MS;

/** Longest time between the checks of a held monitor, since each of them may end the hold. */
const RECHECK_MAX_MS = 10 * SECOND_MS;

/** Age of an answer from outside up to which the network is taken for present. */
const FRESH_MS = SECOND_MS;

/** Monitors that are checked at once to find out if the network is there. */
const ASKED_MAX = 4;

/** Timeout up to which a failure of such a check is known while others wait for it. Others are asked if none has it. */
const ASKED_TIMEOUT_MAX_MS = 10 * SECOND_MS;

/** Minimum time between two such requests. */
const ASK_EVERY_MS = SECOND_MS;

/** Time that a failure waits for their outcome. */
const WAIT_MAX_MS = ASKED_TIMEOUT_MAX_MS + SECOND_MS;

/** Host with its addresses, by the id of a monitor. */
type StoredHosts = Record<string, string[]>;

/** Setting with the start of the last hold, unless an answer ended it. */
const HOLD_SETTING = "network_hold";

/** Setting with hosts of monitors, by their ids: the next process may begin without a network, and find no name. */
const HOSTS_SETTING = "network_hosts";

const HOSTS_STORED_MAX = 16;

const STORE_HOSTS_EVERY_MS = 10 * MINUTE_MS;

/** Time in which failures are held. */
interface Hold {
  /** Start of the hold, in unix ms. */
  since: number;
  /** End without an answer, on the monotonic clock. */
  until: number;
  timer: Timer;
}

interface WatchDependencies {
  ctx: Ctx;
  alarms: Pick<Alarms, "raise" | "clear"> | undefined;
  registry: MonitorRegistry;
  stalls: Stalls;
  /** Begins a check as soon as there is a place for it. */
  check(scheduled: ScheduledMonitor): void;
  /** Gives a monitor whose failures were held its next check, or the job of a push monitor time to call. */
  release(scheduled: ScheduledMonitor): void;
  /** Counts the held failures of a monitor. */
  count(scheduled: ScheduledMonitor): void;
}

/**
 * Decides if this server may have lost its network, by its monitors as witnesses; no other host is asked. While it
 * may, failures of monitors outside are held: they do not count yet.
 *
 * A hold begins when three hosts in two networks fail without an answer, and nothing outside has answered since the
 * first of these checks began, nor in the last second. The first answer ends it. No outage is held twice: a monitor that
 * still fails after an answer of another host is no witness, and its failures count, until it answers itself. The work
 * for one result does not depend on the number of monitors.
 */
export class NetworkWatch {
  readonly #deps: WatchDependencies;
  /** True with reference targets, and after the end. */
  #isOff: boolean;
  /** Monitors that fail without an answer, since the last answer from outside; with the host of a witness. */
  readonly #silent = new Map<ScheduledMonitor, OutsideHost | undefined>();
  readonly #held = new Set<ScheduledMonitor>();
  /** Failures that wait for an answer or a hold. */
  readonly #waiting = new Map<ScheduledMonitor, (isHeld: boolean) => void>();
  #witnesses = new Witnesses();
  /** True if a witness was removed since the last count. */
  #isStale = false;
  #hold: Hold | undefined;
  /** Begins a hold, unless something outside answers before. */
  #beginning: Timer | undefined;
  /** End of the last hold that an answer has ended, on the monotonic clock. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isAlarmed = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** True if there were enough monitors for a hold when they were last looked for. */
  #canHold = false;
  #isRunning = false;
  #storing: Timer | undefined;
  #storedHosts = "";
  #heldChecks = 0;

  constructor(deps: WatchDependencies) {
    this.#deps = deps;
    this.#isOff = deps.ctx.config.referenceTargets.length > 0;
  }

  /** Number of checks that were held since the start. */
  get heldChecks(): number {
    return this.#heldChecks;
  }

  /**
   * Begins to watch, unless it has begun, and continues a hold of an earlier process for the rest of its time. The
   * monitors were read.
   */
  start(): void {
    if (this.#isOff || this.#isRunning) return;
    const { clock, db, outside } = this.#deps.ctx;
    this.#isRunning = true;
    outside.onAnswer = () => this.#answered();
    this.#findHosts();
    this.#storing = clock.every(STORE_HOSTS_EVERY_MS, () => this.#storeHosts());
    const stored = findSetting(db, { name: HOLD_SETTING })?.value as { since: number } | undefined;
    const passedMs = stored ? clock.now() - stored.since : Number.POSITIVE_INFINITY;
    if (stored && passedMs >= 0 && passedMs < HOLD_MAX_MS) {
      for (const scheduled of this.#deps.registry) {
        if (!isHeldStreak(scheduled.evaluation)) continue;
        scheduled.refutedAt = undefined;
        this.#held.add(scheduled);
      }
      this.#begin(stored.since);
    } else if (passedMs < HOLD_MAX_MS + REST_MS) {
      // With a clock that was set back, the time that has passed is unknown.
      const restMs = passedMs < 0 ? REST_MS : HOLD_MAX_MS + REST_MS - passedMs;
      this.#restsUntil = clock.monotonic() + restMs;
      this.#isAlarmed = true;
      this.#lookCloser();
    } else this.#deps.alarms?.clear("network_lost");
  }

  /** Stops to watch. A hold stays stored. */
  stop(): void {
    const { outside } = this.#deps.ctx;
    if (this.#isRunning) outside.onAnswer = undefined;
    this.#isRunning = false;
    this.#isOff = true;
    this.#storing?.cancel();
    this.#beginning?.cancel();
    this.#hold?.timer.cancel();
    this.#hold = undefined;
    for (const settle of this.#waiting.values()) settle(false);
  }

  /** Notes that the target of a check, or the job of a push monitor, has answered. */
  noteAnswer(scheduled: ScheduledMonitor, contact?: Contact): void {
    scheduled.refutedAt = undefined;
    this.#held.delete(scheduled);
    if (this.#silent.get(scheduled)) this.#isStale = true;
    this.#silent.delete(scheduled);
    if (!contact?.host) return;
    const { host, addresses } = contact;
    const before = scheduled.reached;
    const isSame =
      before?.host === host &&
      before.addresses.map(({ address }) => address).join() === addresses.join();
    if (!isSame) scheduled.reached = this.#outsideHost(host, addresses);
  }

  /** Forgets a monitor that was changed, paused or deleted. */
  forget(scheduled: ScheduledMonitor): void {
    this.noteAnswer(scheduled);
    scheduled.reached = undefined;
    this.#waiting.get(scheduled)?.(false);
  }

  /**
   * Returns true if a failed check is held. One that `wouldChange` the state of its monitor may first wait for up to
   * 11 seconds, while nothing outside answers. `startedAt` is on the monotonic clock. Never rejects.
   */
  async isHeld(
    scheduled: ScheduledMonitor,
    { contact }: ProbeResult,
    startedAt: number,
    wouldChange: boolean,
  ): Promise<boolean> {
    if (!this.#isRunning) return false;
    if (contact?.host === undefined || contact.silence === undefined) {
      this.noteAnswer(scheduled, contact);
      return false;
    }
    const { host, addresses, silence } = contact;
    const before =
      scheduled.reached?.host === host.replace(/\.$/, "") ? scheduled.reached : undefined;
    const isNamed = addresses.length > 0;
    const target = isNamed ? this.#outsideHost(host, addresses) : before;
    // Without any address, it is unknown if the host is outside. Nothing is known of it behind a failed proxy.
    if (isNamed) scheduled.reached = target;
    if (isNamed && !target) return false;
    if (this.#hold) return this.#holdOne(scheduled);
    const wasFailing = scheduled.refutedAt !== undefined && scheduled.refutedAt < this.#heldUntil;
    // It began without a network, and ended after the hold: its next check counts.
    if (startedAt < this.#heldUntil && !wasFailing) {
      this.#heldChecks += 1;
      return true;
    }
    if (scheduled.refutedAt !== undefined) return false;
    const { clock, outside } = this.#deps.ctx;
    if (clock.monotonic() < this.#restsUntil) {
      scheduled.refutedAt = clock.monotonic();
      return false;
    }
    const isWitness = silence !== "proxy" && outside.lastAt < startedAt;
    this.#addSilent(scheduled, isWitness ? target : undefined);
    if (this.#areEnough()) {
      const answeredMs = clock.monotonic() - outside.lastAt;
      if (answeredMs >= FRESH_MS) {
        this.#begin(clock.now());
        return this.#holdOne(scheduled);
      }
      this.#beginning ??= clock.after(FRESH_MS - answeredMs, () => {
        this.#beginning = undefined;
        if (this.#areEnough()) this.#begin(clock.now());
      });
    }
    return wouldChange && this.#isNetworkUnsure(startedAt) ? this.#wait(scheduled) : false;
  }

  /** Returns true if a missed heartbeat is held. Waits as for checks. Never rejects. */
  async isMissHeld(scheduled: ScheduledMonitor, wouldChange: boolean): Promise<boolean> {
    // A job in a private network calls without the network outside.
    if (!this.#isRunning || scheduled.callsFromOutside === false) return false;
    if (this.#hold) return this.#holdOne(scheduled);
    const { clock } = this.#deps.ctx;
    const isKnown = scheduled.refutedAt !== undefined || clock.monotonic() < this.#restsUntil;
    if (isKnown || !wouldChange || !this.#isNetworkUnsure(clock.monotonic() - FRESH_MS)) {
      return false;
    }
    return this.#wait(scheduled);
  }

  /** Delay of the next check of a monitor whose check was held, in ms. */
  recheckMs({ retryMs }: ScheduledMonitor): number {
    return this.#hold ? Math.min(retryMs, RECHECK_MAX_MS) : 0;
  }

  /** Holds a failure during a hold, unless its monitor failed while the network was there. */
  #holdOne(scheduled: ScheduledMonitor): boolean {
    if (scheduled.refutedAt !== undefined) return false;
    const isNew = !this.#held.has(scheduled);
    this.#held.add(scheduled);
    this.#heldChecks += 1;
    if (isNew && this.#hold) this.#alarm(this.#hold.since);
    return true;
  }

  #addSilent(scheduled: ScheduledMonitor, witness: OutsideHost | undefined): void {
    const before = this.#silent.get(scheduled);
    this.#silent.set(scheduled, witness ?? before);
    this.#lookCloser();
    if (witness) this.#witnesses.add(witness);
  }

  #areEnough(): boolean {
    if (!this.#witnesses.areEnough || !this.#isStale) return this.#witnesses.areEnough;
    this.#witnesses = new Witnesses();
    this.#isStale = false;
    for (const witness of this.#silent.values()) if (witness) this.#witnesses.add(witness);
    return this.#witnesses.areEnough;
  }

  /**
   * Returns true if no answer shows that the network is there, and there are enough monitors for a hold. Then checks
   * some of them, at most once a second.
   */
  #isNetworkUnsure(startedAt: number): boolean {
    const { clock, outside } = this.#deps.ctx;
    const now = clock.monotonic();
    if (outside.lastAt >= startedAt && now - outside.lastAt < FRESH_MS) return false;
    if (now - this.#askedAt < ASK_EVERY_MS) return this.#canHold;
    this.#askedAt = now;
    const possible = new Witnesses();
    const quick: ScheduledMonitor[] = [];
    const patient: ScheduledMonitor[] = [];
    for (const witness of this.#silent.values()) if (witness) possible.add(witness);
    for (const each of this.#deps.registry) {
      if (possible.areEnough && quick.length === ASKED_MAX) break;
      const { reached, isPaused, refutedAt } = each;
      if (!reached || isPaused || refutedAt !== undefined || this.#silent.has(each)) continue;
      const { hosts } = possible;
      possible.add(reached);
      const asked = each.timeoutMs <= ASKED_TIMEOUT_MAX_MS ? quick : patient;
      if (possible.hosts > hosts && asked.length < ASKED_MAX) asked.push(each);
    }
    this.#canHold = possible.areEnough;
    if (!this.#canHold) return false;
    for (const each of quick.length > 0 ? quick : patient) this.#deps.check(each);
    return true;
  }

  #wait(scheduled: ScheduledMonitor): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = this.#deps.ctx.clock.after(WAIT_MAX_MS, () => settle(false));
    const settle = (isHeld: boolean) => {
      this.#waiting.delete(scheduled);
      timer.cancel();
      resolve(isHeld);
    };
    this.#waiting.set(scheduled, settle);
    this.#lookCloser();
    return promise;
  }

  /** Begins a hold that has lasted since a time in unix ms, with the failures that wait. */
  #begin(since: number): void {
    const { clock, log } = this.#deps.ctx;
    this.#beginning?.cancel();
    const leftMs = HOLD_MAX_MS - Math.max(0, clock.now() - since);
    const until = clock.monotonic() + leftMs;
    this.#hold = { since, until, timer: clock.after(leftMs, () => this.#expire()) };
    log.warn("this server may have lost its network: failed checks are held");
    this.#store(HOLD_SETTING, { since });
    for (const scheduled of this.#waiting.keys()) this.#holdOne(scheduled);
    for (const settle of this.#waiting.values()) settle(true);
    for (const scheduled of this.#silent.keys()) this.#deps.check(scheduled);
    this.#alarm(since);
  }

  /** Something outside has answered. */
  #answered(): void {
    const isOfInterest =
      this.#silent.size + this.#waiting.size > 0 || this.#hold || this.#isAlarmed;
    if (!isOfInterest) return;
    const now = this.#deps.ctx.clock.monotonic();
    const hold = this.#hold;
    const released = this.#settleAll(now);
    for (const settle of this.#waiting.values()) settle(false);
    if (this.#isAlarmed) this.#endAlarm(hold?.since, released.length);
    this.#isAlarmed = false;
    this.#lookCloser();
    if (!hold) return;
    this.#heldUntil = now;
    this.#deps.ctx.log.info("this server has its network: held checks are repeated");
    this.#store(HOLD_SETTING, undefined);
    for (const scheduled of released) this.#deps.release(scheduled);
  }

  /** Nothing has answered for too long: all failures count. */
  #expire(): void {
    const hold = this.#hold;
    if (!hold) return;
    const { clock, log } = this.#deps.ctx;
    // Answers that came during a stall are read first.
    const waitMs = this.#deps.stalls.settledFrom(hold.until) - clock.monotonic();
    if (waitMs > 0) {
      hold.timer = clock.after(waitMs, () => this.#expire());
      return;
    }
    log.warn("nothing outside has answered for 3 minutes: held checks count");
    const counted = this.#settleAll(clock.monotonic());
    this.#restsUntil = clock.monotonic() + REST_MS;
    this.#alarm(hold.since);
    for (const scheduled of counted) this.#deps.count(scheduled);
  }

  /** Ends the hold, if any. Further failures of monitors that fail now count. Returns those that were held. */
  #settleAll(now: number): ScheduledMonitor[] {
    const settled = [...this.#held];
    for (const each of [...settled, ...this.#silent.keys(), ...this.#waiting.keys()]) {
      each.refutedAt ??= now;
    }
    this.#held.clear();
    this.#silent.clear();
    this.#witnesses = new Witnesses();
    this.#isStale = false;
    this.#beginning?.cancel();
    this.#beginning = undefined;
    this.#hold?.timer.cancel();
    this.#hold = undefined;
    return settled;
  }

  /** Raises the alarm of a hold that began at a time in unix ms, or updates its text. */
  #alarm(since: number): void {
    this.#isAlarmed = true;
    this.#lookCloser();
    const count = Math.max(this.#held.size, this.#silent.size);
    const held = `${plural(count, "check")} ${count === 1 ? "is" : "are"} held.`;
    const expired = "nothing outside has answered for 3 minutes, so failed checks count.";
    this.#deps.alarms?.raise(
      "network_lost",
      `This server may have lost its network since ${timeOf(since)} UTC; ${this.#hold ? held : expired}`,
    );
  }

  /** Ends the alarm, after noting the end of the hold in its text: the receivers may not have the beginning. */
  #endAlarm(since: number | undefined, count: number): void {
    const { alarms, ctx } = this.#deps;
    if (since !== undefined) {
      const held = `${plural(count, "check")} ${count === 1 ? "was" : "were"} held.`;
      const times = `from ${timeOf(since)} to ${timeOf(ctx.clock.now())} UTC`;
      alarms?.raise("network_lost", `This server may have lost its network ${times}; ${held}`);
    }
    alarms?.clear("network_lost");
  }

  /** Has the address of every request read while it may end a hold. */
  #lookCloser(): void {
    const isInDoubt =
      this.#silent.size + this.#waiting.size > 0 || this.#hold !== undefined || this.#isAlarmed;
    this.#deps.ctx.outside.isInDoubt = isInDoubt;
  }

  /** Returns a host that this server reaches only by its network outside; undefined for any other. */
  #outsideHost(host: string, addresses: readonly string[]): OutsideHost | undefined {
    const isOwn = addresses.some((address) => this.#deps.ctx.outside.isOwn(address));
    return isOwn ? undefined : outsideHostOf(host, addresses);
  }

  /** Gives monitors the hosts that an earlier process found. */
  #findHosts(): void {
    const stored = findSetting(this.#deps.ctx.db, { name: HOSTS_SETTING })?.value ?? {};
    for (const [id, [host = "", ...addresses]] of Object.entries(stored as StoredHosts)) {
      const scheduled = this.#deps.registry.find(id);
      if (scheduled) scheduled.reached ??= this.#outsideHost(host, addresses);
    }
  }

  /** Stores some different hosts for the next process. */
  #storeHosts(): void {
    const hosts: StoredHosts = {};
    const possible = new Witnesses();
    for (const { id, reached, isPaused } of this.#deps.registry) {
      if (possible.hosts >= HOSTS_STORED_MAX && possible.areEnough) break;
      if (!reached || isPaused) continue;
      const before = possible.hosts;
      possible.add(reached);
      const addresses = reached.addresses.map(({ address }) => address);
      // Of more in the same network, only the first one elsewhere is of use.
      const isUseful = before < HOSTS_STORED_MAX || possible.areEnough;
      if (possible.hosts > before && isUseful) hosts[id] = [reached.host, ...addresses];
    }
    const json = JSON.stringify(hosts);
    if (possible.hosts === 0 || json === this.#storedHosts) return;
    this.#storedHosts = json;
    this.#store(HOSTS_SETTING, hosts);
  }

  /** Stores a setting for the next process, or deletes it. A hold that is not stored ends with this process. */
  #store(name: string, value: object | undefined): void {
    const { clock, db, log } = this.#deps.ctx;
    const now = clock.now();
    db.write((tx) => {
      if (value) putSetting(tx, { name, value, now });
      else deleteSetting(tx, { name });
    }).catch((error: unknown) => {
      log.warn({ err: error }, "the state of the network could not be stored");
    });
  }
}

/**
 * Hosts outside that fail without an answer. All addresses of a name are one host, and so are all names of an address.
 * Hosts that share a /16 or /48 by any of their addresses are in one network.
 */
export class Witnesses {
  readonly #hosts = new Groups();
  readonly #networks = new Groups();

  add({ host, addresses }: OutsideHost): void {
    const name = `name ${host}`;
    this.#hosts.add([name, ...addresses.map(({ address }) => address)]);
    this.#networks.add([name, ...addresses.map(({ network }) => network)]);
  }

  get hosts(): number {
    return this.#hosts.count;
  }

  /** True if the network of this server is a better explanation than that of each host. */
  get areEnough(): boolean {
    return this.#hosts.count >= HOSTS_MIN && this.#networks.count >= NETWORKS_MIN;
  }
}

/** Sets of keys that are joined as soon as they have a key in common. */
class Groups {
  readonly #parents = new Map<string, string>();
  count = 0;

  add(keys: readonly string[]): void {
    let joined: string | undefined;
    for (const key of keys) {
      const root = this.#rootOf(key);
      joined ??= root;
      if (root === joined) continue;
      this.#parents.set(root, joined);
      this.count -= 1;
    }
  }

  #rootOf(key: string): string {
    let root = this.#parents.get(key);
    if (root === undefined) {
      this.#parents.set(key, key);
      this.count += 1;
      return key;
    }
    for (let at = key; root !== at; at = root, root = this.#parents.get(at) ?? at) {
      this.#parents.set(at, this.#parents.get(root) ?? root);
    }
    return root;
  }
}

/** Returns a host whose addresses are all outside; undefined for any other. */
export function outsideHostOf(host: string, addresses: readonly string[]): OutsideHost | undefined {
  const outside = addresses.map(outsideAddressOf).filter((address) => address !== undefined);
  if (outside.length === 0 || outside.length < addresses.length) return undefined;
  return { host: host.replace(/\.$/, ""), addresses: outside };
}

/** Returns the hour and minute of a time in unix ms, in UTC. */
function timeOf(at: number): string {
  return toIso(at).slice(11, 16);
}
