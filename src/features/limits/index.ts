/**
 * Rate limits: token buckets in memory, and the policies that choose the bucket of a request. The
 * gateway charges each request once and writes the headers.
 */
export { type Decision, secondsToRefill } from "./bucket";
export { BucketMap } from "./bucket-map";
export {
  type BucketFigures,
  type Charge,
  createLimiter,
  type Limiter,
  type LocalLimiter,
  POLICIES,
  type PolicyName,
} from "./limiter";
