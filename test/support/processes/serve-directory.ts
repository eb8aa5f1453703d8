/** Opens a data directory as a server does, until it is killed: `bun serve-directory.ts DIRECTORY`. */
import { openForServer } from "../../../src/installation";
import { testConfig } from "../app";

const [, , path = ""] = process.argv;
const server = openForServer(testConfig({ ALLCLEAR_DATA_DIR: path, ALLCLEAR_LOG_LEVEL: "silent" }));
console.log("serving");
for await (const _line of console) server.ctx.db.foreignVersion();
server.close();
