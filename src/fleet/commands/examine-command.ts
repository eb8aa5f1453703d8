/** Name of the internal command that examines a database: `examine-database FILE`. Here, since every start loads it. */
export const EXAMINE_COMMAND = "examine-database";
