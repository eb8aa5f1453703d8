/**
 * Writes the list of RDAP servers that is part of the executable: `bun deploy/rdap-servers.ts` fetches the one
 * that IANA publishes, `bun deploy/rdap-servers.ts FILE` reads it from a file.
 */
import { join } from "node:path";
import { parseRdapList, RDAP_LIST_URL } from "../src/features/monitors/probes/domain";

const TARGET = join(import.meta.dir, "../src/features/monitors/probes/rdap-servers.json");

const [file] = process.argv.slice(2);
const published = file === undefined ? await fetch(RDAP_LIST_URL) : Bun.file(file);
const list = parseRdapList(await published.text());
if (!list) throw new Error(`${file ?? RDAP_LIST_URL} is not a list of RDAP servers`);
await Bun.write(TARGET, `${JSON.stringify(list, null, 2)}\n`);
const domains = Object.values(list.servers).flatMap((names) => names.split(" "));
console.log(`${domains.length} top-level domains, published ${list.publication}`);
