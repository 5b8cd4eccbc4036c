import type { FixtureBenchmark } from "../benchmark";
import { processorSeconds, residentMegabytes } from "../process-usage";
import { startLongUpgrades, terminateUpgrades } from "../upgrades";

/** Ten thousand hosts that are being remediated at the same time, each for 50 minutes. */
export const manyHosts: FixtureBenchmark = {
  name: "many-hosts",
  slow: true,
  // The last host of a cluster cannot be emptied while all others are.
  fleet: ({ quick }) => ({ clusters: quick ? 16 : 160, hosts: 64, hostsAtOnce: 63 }),
  measure: async (fixture, { quick }) => {
    const { clusters, hosts } = fixture.fleet;
    await startLongUpgrades(fixture, clusters, 30);
    const inWork = (await fixture.simulator.ledger("APPLY_STARTED")).length;
    const pids = fixture.pids("worker", "api");
    const seconds = quick ? 20 : 60;
    const temporal = fixture.pids("temporal", "database");
    const before = {
      processor: processorSeconds(pids),
      temporal: processorSeconds(temporal),
      requests: await fixture.managerRequests(),
      at: Date.now(),
    };
    await new Promise((resume) => setTimeout(resume, seconds * 1000));
    const passed = (Date.now() - before.at) / 1000;
    const processor = ((processorSeconds(pids) - before.processor) / passed) * 100;
    const temporalProcessor = ((processorSeconds(temporal) - before.temporal) / passed) * 100;
    const requests = ((await fixture.managerRequests()) - before.requests) / passed;
    const memory = residentMegabytes(pids);
    const lost = fixture.service.log("worker").filter(({ msg }) => msg.startsWith("An Activity was lost")).length;
    await terminateUpgrades(fixture);
    const size = `${inWork} hosts being remediated (${clusters} x ${hosts})`;
    return [
      {
        id: "many-hosts-processor",
        title: `${size}: processor of worker and API`,
        value: processor,
        unit: "% of one",
        judged: "value",
        target: { atMost: 60 },
      },
      {
        id: "many-hosts-requests",
        title: `${size}: requests to component managers`,
        value: requests,
        unit: "/s",
        judged: "value",
        target: { atMost: 200 },
      },
      {
        id: "many-hosts-heartbeats",
        title: `${size}: missed heartbeats`,
        value: lost,
        unit: "",
        judged: "value",
        target: { atMost: 0 },
      },
      {
        id: "many-hosts-temporal-processor",
        title: `${size}: processor of Temporal and its database`,
        value: temporalProcessor,
        unit: "% of one",
        judged: "value",
      },
      { id: "many-hosts-clusters", title: `${size}: clusters`, value: clusters, unit: "", judged: "value" },
      {
        id: "many-hosts-memory",
        title: `${size}: memory of worker and API`,
        value: memory,
        unit: "MB",
        judged: "value",
      },
    ];
  },
};
