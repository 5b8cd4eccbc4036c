// This file and all that it imports at once run before `npm ci`, so they can use no package.
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "./build.mjs";
import { clientGenerators } from "./client-generators.mjs";
import { containerTools } from "./container-tools.mjs";
import { install } from "./install.mjs";
import { kubernetesTools } from "./kubernetes-tools.mjs";
import { withLock } from "./lock.mjs";
import { monitoring } from "./monitoring.mjs";
import { postgresql } from "./postgresql.mjs";
import { postgresqlClients } from "./postgresql-clients.mjs";
import { root } from "./run.mjs";
import { schemathesis } from "./schemathesis.mjs";
import { temporalServer } from "./temporal-server.mjs";
import { testServer } from "./test-server.mjs";
import { toxiproxy } from "./toxiproxy.mjs";
import { vcsim as buildVcsim } from "./vcsim.mjs";
import { vendorClients } from "./vendor-clients.mjs";

const require = createRequire(import.meta.url);

/**
 * Brings this checkout to where its programs can run; says nothing and does nothing where it is there already.
 * Answers the paths of the tools that were asked for.
 */
export function prepare({
  signal,
  temporalCli = false,
  timeSkippingServer = false,
  thirdParty = false,
  production = false,
  network = false,
  containers = false,
}) {
  const told = { say: (line) => console.error(line), signal };
  return withLock(join(root, ".data", "prepare.lock"), told, async () => {
    await install(told);
    await build(told);
    const config = readConfig();
    return {
      ...(temporalCli && config && { temporalCli: await findCli(config, told) }),
      ...(timeSkippingServer && config && { timeSkippingServer: await testServer(config.cacheDir, told) }),
      ...(thirdParty &&
        config && {
          vcsim: await buildVcsim(config.cacheDir, told),
          vendorClients: await vendorClients(config.cacheDir, told),
          schemathesis: await schemathesis(config.cacheDir, told),
          clientGenerators: await clientGenerators(config.cacheDir, told),
          kubernetesTools: await kubernetesTools(config.cacheDir, told),
          monitoring: await monitoring(config.cacheDir, told),
        }),
      ...(production &&
        config && {
          postgresql: await postgresql(config.cacheDir, told),
          postgresqlClients: await postgresqlClients(config.cacheDir, told),
          temporalServer: await temporalServer(config.cacheDir, told),
        }),
      ...(containers && config && (await containerTools(config.cacheDir, told))),
      ...(network && config && { toxiproxy: await toxiproxy(config.cacheDir, told) }),
    };
  });
}

/** What is wrong with the configuration is told by the program itself, all of it at once. */
function readConfig() {
  const read = require("../dist/src/config.js").readConfig();
  return read._tag === "Right" ? read.right : undefined;
}

function findCli(config, told) {
  return require("../dist/src/temporal/find-temporal-cli.js").findTemporalCli({
    cliPath: config.temporal.cliPath,
    cacheDir: config.cacheDir,
    environment: config.environment,
    downloadScript: join(root, "scripts", "download-temporal-cli.mjs"),
    ...told,
  });
}
