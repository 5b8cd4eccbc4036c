import { temporalCluster } from "../../e2e/production/temporal-cluster";
import { type Proxy, Toxiproxy } from "./toxiproxy";

let started: Promise<{ readonly toxiproxy: Toxiproxy; readonly database: Proxy }> | undefined;

/** The proxy before the database of the one Temporal cluster of this run, which all suites of the folder start so. */
export async function databaseProxy(): Promise<Proxy> {
  started ??= start();
  return (await started).database;
}

async function start() {
  const toxiproxy = await Toxiproxy.start(Number(process.env["NETWORK_SEED"] ?? 1));
  let database: Proxy | undefined;
  await temporalCluster(async (port) => {
    database = await toxiproxy.before("temporalToPostgresql", `127.0.0.1:${port}`);
    return database.port;
  });
  if (!database) throw new Error("The Temporal cluster was started without a proxy before its database");
  return { toxiproxy, database };
}

// Of the whole run, and after the hook that ends the cluster.
after(async () => {
  await (await started?.catch(() => undefined))?.toxiproxy.stop();
});
