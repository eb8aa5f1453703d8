import { mailingPath, MAILINGS_PATH } from "../../ui/frame/paths";

export const GO_ON_PATH = `${MAILINGS_PATH}/go-on`;

export function stopPath(id: string): string {
  return `${mailingPath(id)}/stop`;
}

export function releasePath(id: string): string {
  return `${mailingPath(id)}/release`;
}

/** Returns the path that releases all held mailings of a page. */
export function releaseOfPagePath(pageId: string): string {
  return `${MAILINGS_PATH}/pages/${encodeURIComponent(pageId)}/release`;
}

/** Returns the path of the suppressions of a hold, by its start (unix ms). */
export function suppressionsPath(at: number): string {
  return `${MAILINGS_PATH}/holds/${at}`;
}
