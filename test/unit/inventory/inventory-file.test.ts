import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { defaultRolloutPolicy } from "../../../src/domain/plan/facts";
import { readInventoryFile } from "../../../src/inventory/inventory-file";
import { readSimulatorConfig } from "../../../src/simulator/config/simulator-config";

const manager = "{id: vc, type: VCENTER, url: 'https://vc.example.com', username: u, passwordFile: password.txt}";
const domain = "{id: d, platformVersion: '5.2'}";
const cluster = "{resourceId: r, name: n, domain: d, componentManager: vc, cluster: domain-c1}";
const inventory = (parts: { managers?: string; domains?: string; clusters?: string } = {}) => `
componentManagers: [${parts.managers ?? manager}]
domains: [${parts.domains ?? domain}]
clusters: [${parts.clusters ?? cluster}]
`;

describe("readInventoryFile", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "inventory-"));
    writeFileSync(join(folder, "password.txt"), "secret\n");
  });
  after(() => rmSync(folder, { recursive: true }));

  function read(yaml: string, environment: Record<string, string> = {}) {
    const file = join(folder, "inventory.yaml");
    writeFileSync(file, yaml);
    return readInventoryFile(file, environment);
  }
  function problems(yaml: string, environment?: Record<string, string>): readonly string[] {
    const inventoryFile = read(yaml, environment);
    return E.isLeft(inventoryFile) ? inventoryFile.left : [];
  }
  function managerOf(yaml: string, environment?: Record<string, string>) {
    const inventoryFile = read(yaml, environment);
    if (E.isLeft(inventoryFile)) throw new Error(inventoryFile.left.join("\n"));
    return inventoryFile.right.componentManagers.get("vc");
  }

  it("reads the inventory that is shipped, which is what the simulator simulates", () => {
    const shipped = readInventoryFile("config/inventory.yaml", { SIMULATOR_PORT: "18090" });
    const simulated = readSimulatorConfig("config/simulator.yaml");
    if (E.isLeft(shipped) || E.isLeft(simulated)) throw new Error("a file of config/ cannot be read");
    const { clusters, componentManagers } = shipped.right;
    expect([...clusters.values()].map(({ cluster: id, name }) => `${id} ${name}`)).to.have.members(
      (simulated.right.clusters ?? []).map(({ id, name }) => `${id} ${name}`),
    );
    expect([...componentManagers.values()]).to.deep.equal([
      {
        id: "fra1-vc01",
        url: "http://127.0.0.1:18090",
        username: "upgrade-service@example.com",
        password: "simulator",
      },
      {
        id: "fra1-nsx01",
        url: "http://127.0.0.1:18090/nsx/fra1-nsx01",
        username: "upgrade-service",
        password: "simulator",
      },
    ]);
    const depot = new Set(simulated.right.depot.map(({ version }) => version));
    for (const { version } of [...shipped.right.installations.personalities, ...shipped.right.installations.isos]) {
      expect(depot).to.include(version);
    }
    for (const version of [...depot].slice(1))
      expect(shipped.right.patches.find({ version }), version).to.not.equal(undefined);
  });

  it("links each cluster to its component manager and the version of its domain", () => {
    const inventoryFile = read(inventory());
    expect(E.isRight(inventoryFile) && [...inventoryFile.right.clusters]).to.deep.equal([
      [
        "r",
        {
          resourceId: "r",
          name: "n",
          domain: "d",
          domainName: "d",
          platformVersion: "5.2",
          rollout: defaultRolloutPolicy,
          componentManagerId: "vc",
          cluster: "domain-c1",
        },
      ],
    ]);
  });

  it("names every field that is not known, with the one that was meant", () => {
    const misspelt = inventory({
      managers: manager.replace("username", "user"),
      domains: "{id: d, platformVersion: '5.2', rollout: {hostAtOnce: 4}}",
      clusters: cluster.replace("name: n", "nmae: n"),
    });
    expect(problems(`${misspelt}netvirtManager: []`)).to.deep.equal([
      "componentManagers[0].user: there is no such field. Did you mean url?",
      "domains[0].rollout.hostAtOnce: there is no such field. Did you mean hostsAtOnce?",
      "clusters[0].nmae: there is no such field. Did you mean name?",
      "netvirtManager: there is no such field. Did you mean netvirtManagers?",
      "componentManagers[0]: username is missing or wrong.",
      "clusters[0]: name is missing or wrong.",
    ]);
    expect(problems(inventory({ clusters: cluster.replace("}", ", rolout: {}}") }))).to.deep.equal([
      "clusters[0].rolout: there is no such field. Did you mean rollout?",
    ]);
  });

  it("takes a cluster's rollout policy before its domain's, and that before the default", () => {
    const rolloutOf = (domainPolicy: string, clusterPolicy: string) => {
      const file = read(
        inventory({
          domains: domain.replace("}", `, rollout: ${domainPolicy}}`),
          clusters: cluster.replace("}", `, rollout: ${clusterPolicy}}`),
        }),
      );
      return E.isRight(file) && file.right.clusters.get("r")?.rollout;
    };
    const policy = rolloutOf("{hostsAtOnce: 2, soakSeconds: 60}", "{soakSeconds: 5, toleratedFailures: 1}");
    expect(policy).to.deep.equal({ hostsAtOnce: 2, soakSeconds: 5, healthGate: true, toleratedFailures: 1 });
  });

  it("refuses a rollout policy that leaves no host in service, or waits backwards", () => {
    for (const rollout of ["{hostsAtOnce: 0}", "{soakSeconds: -1}", "{toleratedFailures: 1.5}", "{healthGate: 1}"]) {
      const found = problems(inventory({ clusters: cluster.replace("}", `, rollout: ${rollout}}`) }));
      expect(found, rollout).to.deep.equal([`clusters[0]: rollout.${/\w+/.exec(rollout)?.[0]} is missing or wrong.`]);
    }
  });

  describe("servers and images", () => {
    const nsx = "{id: nsx, type: NSX, url: 'https://nsx.example.com', username: u, passwordFile: password.txt}";
    const whole = (lists: string) => `${inventory({ managers: `${manager}, ${nsx}` })}${lists}`;

    const named = (host: string, ...further: string[]) => ({
      fqdn: `${host}.example.com`,
      sans: [`${host}.example.com`, ...further],
    });

    it("links a NETVIRT manager to its domain, and a management server to the clusters that it serves", () => {
      const file = read(
        whole(`
netvirtManagers: [{resourceId: n1, name: nsx-01, domain: d, componentManager: nsx}]
managementServers: [{resourceId: m1, name: vc-01, componentManager: vc, sans: [vc-01.example.com]}]
personalities: [{id: p, name: golden, version: 9.0.2, addOn: {name: vendor, version: "1"}}]
isos: [{id: i, name: custom, version: 9.0.2}]
`),
      );
      if (E.isLeft(file)) throw new Error(file.left.join("\n"));
      expect(file.right.installations).to.deep.equal({
        netvirt: [
          {
            resourceId: "n1",
            name: "nsx-01",
            domain: "d",
            domainName: "d",
            componentManagerId: "nsx",
            clusters: ["r"],
            members: [{ resourceId: "r", name: "n", cluster: "domain-c1" }],
            ...named("nsx"),
          },
        ],
        management: [
          {
            resourceId: "m1",
            name: "vc-01",
            componentManagerId: "vc",
            clusters: ["r"],
            places: [{ domain: "d" }],
            ...named("vc", "vc-01.example.com"),
          },
        ],
        personalities: [{ id: "p", name: "golden", version: "9.0.2", addOn: { name: "vendor", version: "1" } }],
        isos: [{ id: "i", name: "custom", version: "9.0.2" }],
      });
      expect(file.right.clusters.get("r")?.managementServer).to.equal("m1");
    });

    it("tells of every reference that leads nowhere, to the wrong kind of manager, or twice to the same", () => {
      const found = problems(
        whole(`
netvirtManagers:
  - {resourceId: n1, name: nsx-01, domain: d, componentManager: vc}
  - {resourceId: n1, name: nsx-02, domain: nowhere, componentManager: gone}
managementServers:
  - {resourceId: m1, name: vc-01, componentManager: vc}
  - {resourceId: 'm"2', name: vc-02, componentManager: vc}
`),
      );
      expect(found).to.have.members([
        "Component manager vc of NETVIRT manager nsx-01 is of the type VCENTER, not NSX.",
        "Component manager gone of NETVIRT manager nsx-02 is not in the inventory.",
        "Domain nowhere of NETVIRT manager nsx-02 is not in the inventory.",
        "NETVIRT manager n1 occurs twice.",
        "The management server of component manager vc occurs twice.",
        'The resource id m"2 contains a quotation mark.',
      ]);
    });
  });

  describe("environment", () => {
    const url = (text: string) => inventory({ managers: manager.replace("https://vc.example.com", text) });

    it("gives values and their defaults", () => {
      expect(managerOf(url("http://${VC_HOST}:${VC_PORT:-443}"), { VC_HOST: "h1" })?.url).to.equal("http://h1:443");
      expect(managerOf(url("http://h:${P:-1}"), { P: "2" })?.url).to.equal("http://h:2");
      expect(managerOf(url("http://h/${P:-}"), { P: "" })?.url).to.equal("http://h/");
    });

    it("must have every variable without a default", () => {
      expect(problems(url("http://${VC_HOST}"))).to.deep.equal([
        "The inventory uses the environment variable VC_HOST, which is not set.",
      ]);
    });

    it("does not matter to comments", () => {
      expect(problems(`# write \${LIKE_THIS}\n  # and \${THIS}\n${inventory()}`)).to.deep.equal([]);
    });
  });

  describe("settings of management servers", () => {
    const server = (more: string) =>
      `${inventory()}managementServers: [{resourceId: m1, name: vc-01, componentManager: vc, ${more}}]\n`;

    it("are read with their secrets, from files and variables", () => {
      const yaml = server(
        "dnsServers: [10.0.0.1], temporaryRootPasswordFile: password.txt, answers: [{item: vmdir.password, valueVariable: ANSWER}]",
      );
      const file = read(yaml, { ANSWER: "42" });
      expect(E.isRight(file) && file.right.serverSettings.get("m1")).to.deep.equal({
        dnsServers: ["10.0.0.1"],
        temporaryRootPassword: "secret",
        answers: { "vmdir.password": "42" },
      });
    });

    it("are told of where they are wrong, without any secret", () => {
      const yaml = server(
        "dnsServers: [x], temporaryRootPasswordVariable: ROOT, answers: [{item: a}, {item: b, valueFile: no.txt}]",
      );
      const found = problems(yaml, { OTHER: "secret" });
      expect(found.slice(0, 3)).to.deep.equal([
        "DNS server x of management server vc-01 is not an IPv4 address.",
        "ROOT, the temporary root password of management server vc-01, is not set.",
        "Answer a of management server vc-01 has neither valueFile nor valueVariable.",
      ]);
      expect(found[3]).to.match(/^The file of the answer b of management server vc-01 cannot be read/);
    });
  });

  describe("patches", () => {
    const patches = (lists: string) => read(`${inventory()}${lists}`);

    it("are found by version, or by the ISO that is named", () => {
      const file = patches(`
patches: [{version: 9.0.1, metadataUrls: ['http://depot/1/metadata.zip'], vibUrls: ['http://depot/1/a.vib']}]
isos: [{id: i, name: custom, version: 9.0.2, metadataUrls: ['http://depot/i/metadata.zip']}, {id: j, name: bare, version: 9.0.2}]
`);
      if (E.isLeft(file)) throw new Error(file.left.join("\n"));
      const { find } = file.right.patches;
      expect(find({ version: "9.0.1" })).to.deep.equal({
        version: "9.0.1",
        metadataUrls: ["http://depot/1/metadata.zip"],
        vibUrls: ["http://depot/1/a.vib"],
      });
      expect(find({ version: "9.0.2", customIsoId: "i" })?.metadataUrls).to.deep.equal(["http://depot/i/metadata.zip"]);
      expect(find({ version: "9.0.1", customIsoId: "j" })).to.equal(undefined);
      expect(find({ version: "9.0.2" })).to.equal(undefined);
    });

    it("are one of a version, with URLs", () => {
      const file = patches("patches: [{version: 1, metadataUrls: []}]");
      expect(E.isLeft(file) && file.left).to.deep.equal(["patches[0]: version is missing or wrong."]);
      const twice = patches("patches: [{version: '1', metadataUrls: []}, {version: '1', metadataUrls: [x]}]");
      expect(E.isLeft(twice) && twice.left).to.deep.equal([
        "Patch 1 has no metadataUrls.",
        "Patch 1 occurs twice.",
        "x of a patch is not a URL.",
      ]);
    });
  });

  describe("passwords", () => {
    const byVariable = manager.replace("passwordFile: password.txt", "passwordVariable: VC_PASSWORD");

    it("come from a file beside the inventory, or from a variable", () => {
      expect(managerOf(inventory())?.password).to.equal("secret");
      expect(managerOf(inventory({ managers: byVariable }), { VC_PASSWORD: "from env" })?.password).to.equal(
        "from env",
      );
    });

    it("must be there", () => {
      const withoutAny = manager.replace(", passwordFile: password.txt", "");
      const noFile = manager.replace("password.txt", "no-such-file.txt");
      expect(problems(inventory({ managers: byVariable }))).to.deep.equal([
        "VC_PASSWORD, the password of component manager vc, is not set.",
      ]);
      expect(problems(inventory({ managers: withoutAny }))).to.deep.equal([
        "Component manager vc has neither passwordFile nor passwordVariable.",
      ]);
      expect(problems(inventory({ managers: noFile })).join()).to.match(
        /^The file of the password of component manager vc cannot be read/,
      );
    });
  });

  const wrong: Readonly<Record<string, readonly [yaml: string, ...lines: string[]]>> = {
    "an empty file": ["", "The inventory must have componentManagers, domains and clusters."],
    "missing lists": [
      "componentManagers: []\ndomains: {}",
      "domains is missing or not a list.",
      "clusters is missing or not a list.",
    ],
    "wrong fields": [
      inventory({ managers: "{id: vc, type: OTHER, url: 1, username: u}", domains: "{id: d, platformVersion: 5.2}" }),
      "componentManagers[0]: type is missing or wrong.",
      "componentManagers[0]: url is missing or wrong.",
      "domains[0]: platformVersion is missing or wrong.",
    ],
    "entries that are none": [
      inventory({ managers: "vc", clusters: "null" }),
      "componentManagers[0] has no fields.",
      "clusters[0] has no fields.",
    ],
    "a url without http": [
      inventory({ managers: manager.replace("https://vc.example.com", "localhost:8090") }),
      "The url of component manager vc must begin with http:// or https://.",
    ],
    "references to nothing": [
      inventory({
        clusters: cluster.replace("domain: d", "domain: x").replace("componentManager: vc", "componentManager: y"),
      }),
      "Domain x of cluster n is not in the inventory.",
      "Component manager y of cluster n is not in the inventory.",
    ],
    "ids that are there twice": [
      inventory({
        managers: `${manager}, ${manager}`,
        domains: `${domain}, ${domain}`,
        clusters: `${cluster}, ${cluster}`,
      }),
      "Component manager vc occurs twice.",
      "Domain d occurs twice.",
      "Cluster r occurs twice.",
      "Two resource ids stand for domain-c1 of component manager vc.",
    ],
    "one cluster under two ids, which would be two locks": [
      inventory({ clusters: `${cluster}, ${cluster.replace("resourceId: r", "resourceId: s")}` }),
      "Two resource ids stand for domain-c1 of component manager vc.",
    ],
  };
  for (const [what, [yaml, ...lines]] of Object.entries(wrong)) {
    it(`says all that is wrong: ${what}`, () => expect(problems(yaml)).to.deep.equal(lines));
  }

  it("gives a cluster its own maintenance window, otherwise its domain's, and refuses what leads nowhere", () => {
    const windows = (names: readonly string[]) =>
      `maintenanceWindows: [${names.map((id) => `{id: ${id}, timeZone: UTC, recurrence: FREQ=DAILY, start: '22:00', duration: PT6H}`).join()}]\n`;
    const withWindows = inventory({
      domains: domain.replace("}", ", maintenanceWindow: nights}"),
      clusters: [cluster, cluster.replace("r,", "s,").replace("c1}", "c2, maintenanceWindow: days}")].join(),
    });
    const ofClusters = (yaml: string) => {
      const inventoryFile = read(yaml);
      if (E.isLeft(inventoryFile)) throw new Error(inventoryFile.left.join("\n"));
      return [...inventoryFile.right.clusters.values()].map(({ maintenanceWindow }) => maintenanceWindow);
    };
    expect(ofClusters(windows(["nights", "days"]) + withWindows)).to.deep.equal(["nights", "days"]);
    const freeze =
      "freezes: [{id: f, from: '2026-12-19T00:00Z', until: '2027-01-03T00:00Z', reason: x, domains: [e]}]\n";
    expect(problems(windows(["nights"]) + freeze + withWindows)).to.deep.equal([
      "Maintenance window days of cluster n is not in the inventory.",
      "Domain e of freeze f is not in the inventory.",
    ]);
  });

  it("never shows a password", () => {
    const lines = problems(inventory({ clusters: `${cluster}, ${cluster}` }));
    expect(lines).not.to.be.empty;
    expect(lines.join()).not.to.contain("secret");
  });

  it("says which file is not there", () => {
    const missing = readInventoryFile(join(folder, "missing.yaml"), {});
    expect(E.isLeft(missing) && missing.left.join()).to.contain("missing.yaml");
  });
});
