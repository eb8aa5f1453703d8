import { test } from "bun:test";
import { createTestApp } from "./support/app";
import { addMonitor } from "./support/monitor-store";
import { saveRollup, saveRolledUntil } from "../src/features/monitors/rollups-store";
import { insertCheck } from "../src/features/monitors/checks-store";
import { enterState } from "../src/features/monitors/timeline";
import { figuresOf, figuresToRow, mergeFigures } from "../src/features/monitors/figures";
import { insertCause } from "../src/features/components/store";
import { createComponent } from "../src/features/components";
import { CLI_ACTOR } from "../src/kernel/actor";
import { HOUR_MS as H, DAY_MS as D, MINUTE_MS as M } from "../src/kernel/time";
test("x", async () => {
  await using app = await createTestApp();
  const { page, components } = await app.page();
  const { value: key } = await app.createKey({ scopes: ["read:analytics"], rate_limit: 1_000_000 });
  const now = app.clock.now() + 30 * M;
  await app.clock.advance(30 * M);
  const start = Math.floor(now / D) * D - 60 * D;
  let ids: string[] = [];
  const rnd = () => 20 + Math.random() * Math.random() * 800;
  for (let m = 0; m < 50; m++) await app.ctx.db.write((tx) => {
    const row = addMonitor(app.ctx, tx, { name: "m" + m, componentIds: [components.API!], createdAt: start });
    ids.push(row.id);
    const hour = Math.floor(now / H) * H;
    const perDay: ReturnType<typeof figuresOf>[][] = [];
    for (let at = start; at < hour; at += H) {
      const f = figuresOf(Array.from({ length: 60 }, () => ({ outcome: "ok" as const, latencyMs: Math.round(rnd()) })));
      saveRollup(tx, { monitorNum: row.num, size: H, at, ...figuresToRow(f) });
      const d = Math.floor((at - start) / D); (perDay[d] ??= []).push(f);
    }
    perDay.forEach((fs, d) => { if (fs.length === 24) saveRollup(tx, { monitorNum: row.num, size: D, at: start + d * D, ...figuresToRow(mergeFigures(fs)) }); });
    for (let at = hour - 48 * H; at < hour; at += M) saveRollup(tx, { monitorNum: row.num, size: M, at, ...figuresToRow(figuresOf([{ outcome: "ok", latencyMs: 50 }])) });
    for (let at = hour; at < now; at += M) insertCheck(tx, { monitorNum: row.num, at, outcome: "ok", latencyMs: 40, message: null });
    saveRolledUntil(tx, { monitorNum: row.num, at: hour });
    for (let i = 0, at = start; at < now; i++, at += D / 4) enterState(tx, { monitorNum: row.num, state: i % 2 ? "down" : "up", at, message: null });
  });
  await app.ctx.db.write((tx) => {
    for (let c = 0; c < 100; c++) createComponent(app.ctx, tx, page, { name: "c" + c, start_date: "2026-01-01" }, { position: c + 5, groupId: null, managedBy: null }, CLI_ACTOR);
    for (let i = 0; i < 2000; i++) insertCause(tx, { componentId: components.API!, source: "monitor", sourceId: "x", status: "major_outage", startedAt: start + i * 40 * M, endedAt: start + i * 40 * M + 10 * M });
  });
  async function time(path: string, headers = {}) {
    const ts: number[] = []; let size = 0, status = 0;
    for (let i = 0; i < 60; i++) { const t = performance.now();
      const r = await app.app.door(new Request("http://status.test/api/v1/analytics/" + path, { headers: { authorization: `Bearer ${key}`, "accept-encoding": "gzip", ...headers } }), () => "1.2.3.4");
      ts.push(performance.now() - t); size = (await r.arrayBuffer()).byteLength; status = r.status; }
    ts.sort((a, b) => a - b);
    console.log(path, JSON.stringify(headers), status, size, "p50", ts[30]!.toFixed(2), "p95", ts[56]!.toFixed(2), "max", ts[59]!.toFixed(2));
  }
  const nums=JSON.stringify([1]); const {listRollupsOfMonitors,listUnrolledResults}=await import("../src/features/monitors/rollups-store"); const {figuresFromRow}=await import("../src/features/monitors/figures"); const {latencyByInterval,latencyOf}=await import("../src/features/monitors"); const {readPeriod}=await import("../src/features/analytics"); const p=readPeriod({interval:"hour"},now); const bench=(n:string,f:()=>unknown)=>{const ts:number[]=[];for(let i=0;i<80;i++){const t=performance.now();f();ts.push(performance.now()-t)}ts.sort((a,b)=>a-b);console.log(n,ts[8]!.toFixed(2),ts[40]!.toFixed(2))}; let rows:any[]=[]; bench("rows",()=>{rows=listRollupsOfMonitors(app.ctx.db,{nums,size:H,from:p.from,to:p.to})}); console.log(rows.length); bench("decode",()=>rows.map(({row}:any)=>figuresFromRow(row))); const fs=rows.map(({row}:any)=>figuresFromRow(row)); bench("merge1",()=>fs.map((f:any)=>mergeFigures([f]))); bench("merge",()=>mergeFigures(fs)); bench("byInterval",()=>latencyByInterval(app.ctx.db,[1],p.spans)); bench("of",()=>latencyOf(app.ctx.db,[1],p)); const all=Array.from({length:50},(_,i)=>i+1); bench("of50",()=>latencyOf(app.ctx.db,all,p)); bench("unrolled50",()=>listUnrolledResults(app.ctx.db,{nums:JSON.stringify(all),from:p.from,to:p.to})); 
}, 120_000);
