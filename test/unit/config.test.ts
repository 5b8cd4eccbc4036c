import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { type Config, readConfig } from "../../src/config";
import { configurationVariables } from "../../src/configuration-variables";
import { defaultActivityWaits } from "../../src/domain/time-limits";

const root = resolve(__dirname, "../..");

function accepted(environment: NodeJS.ProcessEnv): Config {
  const config = readConfig(environment);
  if (E.isLeft(config)) throw new Error(config.left.join("\n"));
  return config.right;
}

function problems(environment: NodeJS.ProcessEnv): readonly string[] {
  const config = readConfig(environment);
  return E.isLeft(config) ? config.left : [];
}

/** What a value must be as the page has it: `15 to 60 minutes`. */
function inShort(expected: string): string {
  return expected.replace(/^a (?:whole )?number(?: of (\w+))? from (\d+) to (\d+)$/, "$2 to $3 $1").trim();
}

describe("the configuration", () => {
  it("has a default for everything", () => {
    const config = accepted({});
    expect(config.api).to.deep.equal({ host: "127.0.0.1", port: 8080, trustedProxies: [] });
    expect(config.dataDir).to.equal(join(root, ".data"));
    expect(config.inventoryFile).to.equal(join(root, "config/inventory.yaml"));
    expect(config.temporal).to.deep.include({
      embedded: true,
      address: "127.0.0.1:7233",
      namespace: "default",
      uiPort: 8233,
    });
    expect(config.simulator).to.deep.include({ port: 8090, hostSeconds: 5 });
    expect(config.cacheDir).to.equal(join(homedir(), ".cache/upgrade-management-service"));
    expect(config.timeLimits.callTimeout).to.equal(30_000);
    expect(config.watchLimits).to.deep.equal({ poll: 1000, quiet: 15_000, listeners: 1000, listenersPerCaller: 250 });
  });

  it("has the limits of plans that say nothing as the defaults of new ones", () => {
    expect(accepted({}).activityWaits).to.deep.equal(defaultActivityWaits);
    expect(accepted({}).timeLimits).to.include({ answer: 90_000, settle: 60_000, outage: 3_600_000 });
  });

  it("takes every limit of a wait, and gives one try of a read the time of an answer and a last call", () => {
    const limits = { HEARTBEAT_SECONDS: "30", STEP_DAYS: "14", LOST_RUNS: "50", NETVIRT_READ_MINUTES: "45" };
    const set = accepted({ ...limits, ANSWER_SECONDS: "200", COMPONENT_MANAGER_CALL_SECONDS: "60" });
    expect(set.activityWaits).to.deep.equal({
      ...defaultActivityWaits,
      readRunSeconds: 320,
      netvirtReadMinutes: 45,
      heartbeatSeconds: 30,
      callSeconds: 60,
      stepDays: 14,
      lostRuns: 50,
    });
    expect(set.timeLimits.answer).to.equal(200_000);
  });

  it("names variables that differ from one of ours in case or by one edit, and no others", () => {
    const misspelt = { API_PROT: "1", api_host: "a", LOG_LEVELS: "info", DATADIR: "x" };
    expect(problems(misspelt)).to.deep.equal([
      "API_PROT is not a variable of the service. Did you mean API_PORT?",
      "api_host is not a variable of the service. Did you mean API_HOST?",
      "LOG_LEVELS is not a variable of the service. Did you mean LOG_LEVEL?",
      "DATADIR is not a variable of the service. Did you mean DATA_DIR?",
    ]);
    expect(problems({ ...misspelt, API_PORT: "none" })).to.have.length(5);
    expect(problems({ API_KEY: "k", XDG_DATA_HOME: "/x", TEMPORAL_API_KEY: "k", HOST: "h" })).to.deep.equal([]);
  });

  it("refuses limits of waits outside of their bounds", () => {
    const bounds = {
      ANSWER_SECONDS: [5, 3600],
      HOST_SETTLE_SECONDS: [5, 3600],
      NETVIRT_READ_MINUTES: [1, 1440],
      HEARTBEAT_SECONDS: [5, 600],
      STEP_DAYS: [1, 365],
      LOST_RUNS: [1, 1000],
    } as const;
    for (const [name, [least, most]] of Object.entries(bounds)) {
      for (const value of [least, most]) expect(problems({ [name]: String(value) }), name).to.deep.equal([]);
      for (const value of [least - 1, most + 1, 5.5])
        expect(problems({ [name]: String(value) }), name).to.have.length(1);
    }
  });

  it("takes an empty variable as unset", () => {
    expect(accepted({ API_PORT: "", TEMPORAL_CLI_PATH: " ", TEMPORAL_ADDRESS: "" })).to.deep.include({
      api: { host: "127.0.0.1", port: 8080, trustedProxies: [] },
    });
  });

  it("tells everything that is wrong at once, each with its variable, its value and what is expected", () => {
    expect(
      problems({ API_PORT: "eighty", LOG_LEVEL: "loud", SIMULATOR_HOST_SECONDS: "-1", POLL_MIN_MILLISECONDS: "2.5" }),
    ).to.deep.equal([
      'API_PORT="eighty": expected a whole number from 1 to 65535.',
      'LOG_LEVEL="loud": expected one of trace, debug, info, warn, error, fatal.',
      'SIMULATOR_HOST_SECONDS="-1": expected a number of seconds from 0 to 3600.',
      'POLL_MIN_MILLISECONDS="2.5": expected a whole number of milliseconds from 10 to 60000.',
    ]);
  });

  it("refuses every value outside the bounds of a number, and takes the bounds themselves", () => {
    for (const wrong of ["0", "65536", "-1", "1e3", "0x10", "8080 ms", "99999999999"])
      expect(problems({ API_PORT: wrong }), wrong).to.have.length(1);
    expect(accepted({ API_PORT: "1", SIMULATOR_PORT: "65535" })).to.deep.include({
      api: { host: "127.0.0.1", port: 1, trustedProxies: [] },
    });
    expect(accepted({ SIMULATOR_HOST_SECONDS: "0.25" }).simulator.hostSeconds).to.equal(0.25);
  });

  it("lets AUTH_MODE=dev listen on loopback addresses only", () => {
    for (const host of ["127.0.0.1", "127.8.9.10", "localhost", "::1"])
      expect(accepted({ API_HOST: host }).api.host).to.equal(host);
    for (const host of ["0.0.0.0", "::", "192.0.2.7", "127.0.0.1.example.com"]) {
      const [problem, ...others] = problems({ API_HOST: host });
      expect(problem, host).to.match(/API_HOST=.* AUTH_MODE=dev .*loopback/);
      expect(others).to.deep.equal([]);
    }
  });

  it("takes the certificate of the API with its key only, and client certificates with both", () => {
    const pair = { API_TLS_CERT_FILE: "tls/cert.pem", API_TLS_KEY_FILE: "/run/key.pem" };
    expect(accepted(pair).api.tls).to.deep.equal({
      certFile: join(root, "tls/cert.pem"),
      keyFile: "/run/key.pem",
      clientCaFile: undefined,
    });
    expect(accepted({ ...pair, API_TLS_CLIENT_CA_FILE: "/ca.pem" }).api.tls?.clientCaFile).to.equal("/ca.pem");
    expect(accepted({}).api.tls).to.equal(undefined);
    for (const half of [{ API_TLS_CERT_FILE: "/a" }, { API_TLS_KEY_FILE: "/a" }])
      expect(problems(half)[0]).to.match(/API_TLS_CERT_FILE and API_TLS_KEY_FILE belong together/);
    expect(problems({ API_TLS_CLIENT_CA_FILE: "/a" })[0]).to.match(/API_TLS_CLIENT_CA_FILE needs API_TLS_CERT_FILE/);
  });

  it("takes addresses and networks of trusted proxies", () => {
    const list = "192.0.2.1, 10.0.0.0/8,2001:db8::/32";
    expect(accepted({ API_TRUSTED_PROXIES: list }).api.trustedProxies).to.deep.equal([
      "192.0.2.1",
      "10.0.0.0/8",
      "2001:db8::/32",
    ]);
    for (const wrong of ["proxy.example.com", "10.0.0.0/33", "10.0.0.0/", "1.2.3.4,", "2001:db8::/129"])
      expect(problems({ API_TRUSTED_PROXIES: wrong }), wrong).to.have.length(1);
  });

  it("lets the other modes of authentication listen anywhere, and knows no further mode", () => {
    for (const AUTH_MODE of ["local", "oidc"])
      expect(accepted({ AUTH_MODE, API_HOST: "0.0.0.0" }).authentication.mode).to.equal(AUTH_MODE);
    expect(problems({ AUTH_MODE: "none" })).to.deep.equal(['AUTH_MODE="none": expected one of dev, local, oidc.']);
  });

  it("keeps revocations in the data folder where no other is named", () => {
    expect(accepted({ DATA_DIR: "/data" }).authentication.revokedDir).to.equal("/data/revoked-tokens");
    expect(accepted({ AUTH_REVOKED_DIR: "/shared" }).authentication.revokedDir).to.equal("/shared");
  });

  it("takes an issuer by HTTPS, and by HTTP on this machine only, and a public URL without query and fragment", () => {
    for (const PUBLIC_URL of ["https://upgrades.example.com", "https://upgrades.example.com//"])
      expect(accepted({ PUBLIC_URL }).publicUrl).to.equal("https://upgrades.example.com");
    for (const PUBLIC_URL of ["upgrades.example.com", "ftp://a", "https://a.example/?b=c", "https://a.example/#/"])
      expect(problems({ PUBLIC_URL }), PUBLIC_URL).to.have.length(1);
    for (const OIDC_ISSUER of ["https://login.example.com/realms/a", "http://127.0.0.1:9000", "http://[::1]:9000"])
      expect(accepted({ OIDC_ISSUER }).authentication.issuer).to.equal(OIDC_ISSUER);
    for (const OIDC_ISSUER of ["http://login.example.com", "login.example.com", "ftp://a", "https://a.example/?b=c"])
      expect(problems({ OIDC_ISSUER }), OIDC_ISSUER).to.have.length(1);
  });

  it("refuses two listeners on one port, of those that will listen", () => {
    expect(problems({ API_PORT: "7233" })).to.deep.equal(["API_PORT and TEMPORAL_PORT are both 7233."]);
    expect(problems({ API_PORT: "7233", TEMPORAL_ADDRESS: "temporal.example.com:7233" })).to.deep.equal([]);
  });

  it("refuses a shortest pause above the longest", () => {
    expect(problems({ POLL_MIN_MILLISECONDS: "900", POLL_MAX_MILLISECONDS: "800" })).to.have.length(1);
  });

  it("starts relative paths at the project's folder and keeps absolute ones", () => {
    const config = accepted({ DATA_DIR: "other", CATALOG_FILE: "/srv/bundles.yaml", XDG_CACHE_HOME: "/var/cache" });
    expect(config.dataDir).to.equal(join(root, "other"));
    expect(config.catalogFile).to.equal("/srv/bundles.yaml");
    expect(config.cacheDir).to.equal("/var/cache/upgrade-management-service");
  });

  it("uses the Temporal server that is named, with its namespace and key", () => {
    const { temporal } = accepted({
      TEMPORAL_ADDRESS: "temporal.example.com:7233",
      TEMPORAL_NAMESPACE: "upgrades",
      TEMPORAL_API_KEY: "secret",
    });
    expect(temporal).to.deep.include({ embedded: false, address: "temporal.example.com:7233", namespace: "upgrades" });
    expect(temporal.connection).to.deep.include({ address: "temporal.example.com:7233", apiKey: "secret", tls: true });
  });

  it("takes an address of Temporal with its port only", () => {
    for (const address of ["127.0.0.1:7233", "temporal:7233", "[::1]:7233", "a-b.example.com:443"])
      expect(accepted({ TEMPORAL_ADDRESS: address }).temporal.address).to.equal(address);
    for (const address of ["nonsense", "temporal.example.com", "temporal:", "temporal:http", "::1", "a b:7233"])
      expect(problems({ TEMPORAL_ADDRESS: address }), address).to.deep.equal([
        `TEMPORAL_ADDRESS=${JSON.stringify(address)}: expected host:port.`,
      ]);
  });

  it("gives the embedded server no key that was meant for another", () => {
    const { temporal } = accepted({ TEMPORAL_API_KEY: "secret", TEMPORAL_PORT: "7300" });
    expect(temporal.connection).to.deep.equal({ address: "127.0.0.1:7300" });
  });

  it("names what is wrong with Temporal's variables, together with the rest, and shows no key", () => {
    const [, temporal] = problems({
      API_PORT: "x",
      TEMPORAL_ADDRESS: "http://temporal.example.com",
      TEMPORAL_API_KEY: "secret",
    });
    expect(temporal).to.match(/^TEMPORAL_ADDRESS="http:.*": expected host:port/);
    expect(temporal).not.to.contain("secret");
    expect(
      problems({
        TEMPORAL_ADDRESS: "a:1",
        TEMPORAL_TLS_CLIENT_CERT_PATH: "/nowhere.pem",
        TEMPORAL_TLS_CLIENT_KEY_PATH: "/nowhere.key",
      })[0],
    ).to.match(/^TEMPORAL_\*: .*nowhere/);
  });

  it("is described in docs/configuration.md as it is, every variable", () => {
    const documented = readFileSync(join(root, "docs/configuration.md"), "utf8")
      .split("\n")
      .filter((line) => /^\| `[A-Z_]+` \|.*\|.*\|.*\|$/.test(line));
    const wanted = configurationVariables.map(
      ({ name, expected, fallback, about }) =>
        `| \`${name}\` | ${inShort(expected)} | ${fallback === undefined ? "none" : `\`${fallback}\``} | ${about} |`,
    );
    expect(documented).to.deep.equal(wanted);
  });
});
