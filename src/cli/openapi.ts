import { createApp } from "../app";
import { systemClock } from "../base/clock";
import { optionNames } from "../base/config/options";
import { systemRandom } from "../base/hash";
import { runInSlices } from "../base/in-slices";
import { createLog } from "../base/log";
import { redactText } from "../base/redaction";
import { createDb } from "../db/database";
import { migrate } from "../db/migrations";
import { openSqlite } from "../db/open";
import { createContext } from "../installation";
import type { Command } from "./command";
import { printJson } from "./print";

export const openapiCommand: Command = {
  name: "openapi",
  summary: "Print the OpenAPI document of the API, as served at /openapi.json.",
  options: optionNames("openapi"),
  async run({ config, output }) {
    // The document is made from the routes that an application declares.
    const sqlite = openSqlite(":memory:", 0);
    migrate(sqlite, undefined);
    const clock = systemClock();
    const log = createLog(config.logLevel, redactText);
    const db = createDb(sqlite, clock, log);
    const app = createApp(createContext({ config, db, clock, log, random: systemRandom }));
    await app.loadRoutes();
    printJson(output, await runInSlices(app.openApi()));
    app.usage.stop();
    db.close();
    return 0;
  },
};
