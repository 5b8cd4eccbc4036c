import type { StagedExperiment } from "../experiment";
import { processorSeconds, residentMegabytes } from "../process-usage";
import { endUpgrades, startedUpgrades } from "../running-upgrades";

/** Ten thousand hosts that are being remediated at the same time, each for 50 minutes. */
export const manyHosts: StagedExperiment = {
  name: "many-hosts",
  slow: true,
  // The last host of a cluster cannot be emptied while all others are.
  needs: ({ quick }) => ({ clusters: quick ? 16 : 160, hosts: 64, hostsAtOnce: 63 }),
  run: async (stage, { quick }) => {
    const { clusters, hosts } = stage.fleet;
    await startedUpgrades(stage, clusters, 30);
    const inWork = (await stage.simulator.ledger("APPLY_STARTED")).length;
    const pids = stage.pids("worker", "api");
    const seconds = quick ? 20 : 60;
    const temporal = stage.pids("temporal", "temporalServer", "postgresql");
    const before = {
      processor: processorSeconds(pids),
      temporal: processorSeconds(temporal),
      requests: await stage.managerRequests(),
      at: Date.now(),
    };
    await new Promise((resume) => setTimeout(resume, seconds * 1000));
    const passed = (Date.now() - before.at) / 1000;
    const processor = ((processorSeconds(pids) - before.processor) / passed) * 100;
    const temporalProcessor = ((processorSeconds(temporal) - before.temporal) / passed) * 100;
    const requests = ((await stage.managerRequests()) - before.requests) / passed;
    const memory = residentMegabytes(pids);
    const lost = stage.service.log("worker").filter(({ msg }) => msg.startsWith("An Activity was lost")).length;
    await endUpgrades(stage);
    const size = `${inWork} hosts being remediated (${clusters} x ${hosts})`;
    return [
      {
        id: "many-hosts-processor",
        figure: `${size}: processor of worker and API`,
        value: processor,
        unit: "% of one",
        judged: "value",
        target: { atMost: 60 },
      },
      {
        id: "many-hosts-requests",
        figure: `${size}: requests to component managers`,
        value: requests,
        unit: "/s",
        judged: "value",
        target: { atMost: 200 },
      },
      {
        id: "many-hosts-heartbeats",
        figure: `${size}: missed heartbeats`,
        value: lost,
        unit: "",
        judged: "value",
        target: { atMost: 0 },
      },
      {
        id: "many-hosts-temporal-processor",
        figure: `${size}: processor of Temporal and its database`,
        value: temporalProcessor,
        unit: "% of one",
        judged: "value",
      },
      { id: "many-hosts-clusters", figure: `${size}: clusters`, value: clusters, unit: "", judged: "value" },
      {
        id: "many-hosts-memory",
        figure: `${size}: memory of worker and API`,
        value: memory,
        unit: "MB",
        judged: "value",
      },
    ];
  },
};
