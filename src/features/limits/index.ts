/**
 * Who may make how many requests: token buckets held in memory, and the policies that say whose
 * bucket a request is charged to. Decides only; the front door asks once a request and writes headers.
 */
export type { Decision } from "./bucket";
export { BucketMap } from "./bucket-map";
export {
  addressNeighbourhood,
  type BucketFigures,
  type Charge,
  createLimiter,
  type Limiter,
} from "./limiter";
export { POLICIES, type PolicyName } from "./policies";
