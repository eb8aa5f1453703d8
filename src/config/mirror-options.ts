import type { StoreAddress } from "../domain/store-address";
import { parseCredential } from "./mail-options";
import type * as MirrorAddress from "./mirror-address";
import type { MirrorOptionName } from "./mirror-address";
import { option } from "./option";

/** Returns a module that only a start with a mirror loads. */
const addresses = () => require("./mirror-address") as typeof MirrorAddress;

/** Options of the static mirror. */
export const MIRROR_OPTIONS = {
  mirror: option<StoreAddress>({
    flag: "mirror",
    env: "ALLCLEAR_MIRROR",
    parse: (text) => addresses().parseMirror(text),
    default: undefined,
    placeholder: "PLACE",
    help: "Folder, or bucket such as s3://bucket/path?endpoint=https://…&region=…, that gets a static copy of all public pages after each change.",
    scope: "serve",
    isHidden: true,
  }),
  mirrorKeyId: option({
    flag: undefined,
    env: "ALLCLEAR_MIRROR_KEY_ID",
    fileEnv: "ALLCLEAR_MIRROR_KEY_ID_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "ID",
    help: "Id of the access key for the bucket of the mirror, or a file that contains it.",
    scope: "serve",
  }),
  mirrorSecret: option({
    flag: undefined,
    env: "ALLCLEAR_MIRROR_SECRET",
    fileEnv: "ALLCLEAR_MIRROR_SECRET_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "SECRET",
    help: "Secret of that access key, or a file that contains it.",
    scope: "serve",
  }),
} as const satisfies Readonly<Record<MirrorOptionName, unknown>>;

/** Returns the contradictions between options as sentences; none if no option of the mirror is given. */
export function mirrorProblems(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: MirrorOptionName) => boolean,
  nameOf: (name: MirrorOptionName) => string,
): string[] {
  const names = Object.keys(MIRROR_OPTIONS) as MirrorOptionName[];
  return names.some(isGiven) ? addresses().contradictions(values, isGiven, nameOf) : [];
}
