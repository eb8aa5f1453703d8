/**
 * Static mirror: copies of all public documents in a folder or bucket, which a CDN or web server sends while this
 * server does not answer. Loaded only with `--mirror`.
 */
export type { Position } from "./files";
export { type RunningMirror, startMirror } from "./mirror";
