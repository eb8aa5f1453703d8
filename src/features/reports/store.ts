import { findBy } from "../../db/rows";
import { insertInto } from "../../db/statements";
import { mailedReports } from "../../db/tables/reports";

export const insertMailedReport = insertInto(mailedReports);
export const findMailedReport = findBy(mailedReports, ["pageId", "month"]);
