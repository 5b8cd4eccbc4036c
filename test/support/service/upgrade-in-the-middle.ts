import { expect } from "chai";
import { exampleNow } from "./examples";
import { hostsOf, until, type ServiceUnderTest } from "./service-under-test";

/** Starts an upgrade and waits until a host of it is being remediated. */
export async function upgradeInTheMiddleOfAHost(service: ServiceUnderTest): Promise<string> {
  const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
  await until("a host is being remediated", async () =>
    (await service.ledger()).some(({ step }) => step === "MAINTENANCE_ENTERED"),
  );
  return id;
}

/** Waits for the end of that upgrade: all is done, and nothing twice. */
export async function expectEachHostUpgradedOnce(service: ServiceUnderTest, id: string): Promise<void> {
  const task = await service.taskWhen(id, "has ended", ({ status }) => status === "Successful" || status === "Failed");
  expect(task.status, JSON.stringify(task.errors)).to.equal("Successful");
  expect(hostsOf(task).map(({ status }) => status)).to.deep.equal(Array(4).fill("SUCCESSFUL"));
  expect(Object.values(await service.remediations())).to.deep.equal([1, 1, 1, 1]);
}
