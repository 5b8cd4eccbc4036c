// Loaded into the service under attack (NODE_OPTIONS): at SIGUSR2 a process collects its garbage, which it cannot be
// asked for otherwise, and writes process.memoryUsage() to the file MEMORY_REPORTS/PID.json.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const folder = process.env["MEMORY_REPORTS"];
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

process.on("SIGUSR2", () => {
  // Memory outside of the heap is freed after the collection that found it unused.
  collect();
  setImmediate(() => {
    collect();
    const file = join(folder, `${process.pid}.json`);
    writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
    renameSync(`${file}.new`, file);
  });
});
