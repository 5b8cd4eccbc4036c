import { join } from "node:path";
import { pythonPackages } from "./python-packages.mjs";

/** A wheel with PostgreSQL 16's programs; those that the package of the server itself lacks are what is used of it. */
const wheel = "pgserver==0.1.4";

/** The folder of pg_dump, pg_restore and psql, with which the production suite backs up and restores. */
export async function postgresqlClients(cacheDir, told) {
  const asked = { what: `the clients of PostgreSQL 16 (${wheel})`, asked: ["--no-deps", wheel] };
  const place = await pythonPackages(join(cacheDir, "postgresql-clients-0.1.4"), asked, told);
  return join(place, "pgserver", "pginstall", "bin");
}
