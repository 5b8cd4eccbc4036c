import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { interpolated, readCompose } from "../../support/compose-services";

/** Runs a shell command with this engine. */
export type Shell = (command: string) => Promise<unknown>;

const root = resolve(__dirname, "../../..");
const dockerfiles = join(__dirname, "stand-ins");

/** The folder or program that the preparation of this suite has put into a variable. */
export function tool(variable: string): string {
  const place = process.env[variable];
  if (!place) throw new Error(`${variable} is not set: run these tests by npm test -- e2e/containers`);
  return place;
}

/**
 * Makes every image that docker-compose.yml and the Dockerfile name, with their exact tags: resolves when that of Node is
 * there, from which ours is built, to a promise of the others. They stand in for the
 * published ones, which cannot be had everywhere. Alike are programs and versions, users, folders and entry points;
 * different are the distribution (Debian), admin-tools without what no script of ours calls, and the tools of images
 * that neither Compose nor our scripts use.
 */
export async function makeStandIns(sh: Shell): Promise<{ readonly others: Promise<unknown> }> {
  await sh(`docker import ${join(tool("DEBIAN_BASE"), "base.tar")} stand-in/debian`);
  const { services } = readCompose();
  const tag = (service: string) => interpolated(services[service]?.image ?? "");
  const node = /^FROM (node:\S+)/m.exec(readFileSync(join(root, "Dockerfile"), "utf8"))?.[1] ?? "";
  const clients = resolve(tool("POSTGRESQL_CLIENTS"), "../../..");
  const images: { name: string; tag: string; files: readonly (readonly [string, ...string[]])[] }[] = [
    { name: "node", tag: node, files: [[tool("NODE_PROGRAM"), "node", "npm"]] },
    { name: "server", tag: tag("temporal"), files: [[tool("TEMPORAL_SERVER"), "temporal-server"]] },
    {
      name: "admin-tools",
      tag: tag("temporal-namespace"),
      files: [
        [tool("TEMPORAL_SERVER"), "temporal-sql-tool"],
        [dirname(tool("TEMPORAL_CLI_PATH")), "temporal"],
      ],
    },
    {
      name: "ui",
      tag: tag("temporal-ui"),
      files: [[tool("TEMPORAL_UI"), "ui-server", "start-ui-server.sh", "docker.yaml"]],
    },
    {
      name: "postgres",
      tag: tag("postgresql"),
      files: [
        [tool("POSTGRESQL"), "bin", "lib", "share"],
        [clients, "pgserver/pginstall/bin", "pgserver.libs"],
        [dockerfiles, "postgres-entrypoint.sh"],
      ],
    },
  ];
  const make = async ({ name, tag, files }: (typeof images)[number]) => {
    const all = [[dockerfiles, `${name}.Dockerfile`] as const, ...files];
    const context = all.map(([folder, ...names]) => `-C '${folder}' ${names.join(" ")}`).join(" ");
    await sh(`tar -c ${context} | docker build --quiet --network none --tag ${tag} --file ${name}.Dockerfile -`);
  };
  const [ofNode, ...ofOthers] = images;
  if (ofNode) await make(ofNode);
  const others = (async () => {
    for (const image of ofOthers) await make(image);
  })();
  // Whoever needs them may come to it later than one fails.
  others.catch(() => undefined);
  return { others };
}
