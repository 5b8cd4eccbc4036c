import { Connection, type TLSConfig } from "@temporalio/client";
import { expect } from "chai";
import { testAuthority } from "../../support/certificates";
import { temporalCluster, type TemporalCluster } from "./temporal-cluster";

/** Whether the server answers a client, or why the connection failed. */
async function answerTo(address: string, tls: TLSConfig | null): Promise<unknown> {
  const connection = Connection.lazy({ address, tls, interceptors: [] });
  try {
    return await connection.withDeadline(Date.now() + 5_000, () => connection.workflowService.getSystemInfo({}));
  } catch (error) {
    return error;
  } finally {
    await connection.close();
  }
}

describe("the Temporal server of the production suite", function () {
  this.timeout(180_000);
  let cluster: TemporalCluster;

  before(async () => (cluster = await temporalCluster()));

  it("answers a client with a certificate of its authority", async () => {
    expect(await answerTo(cluster.address, cluster.certificates.tls)).to.have.property("serverVersion");
  });

  it("refuses plain connections, clients without a certificate, and those with one of another authority", async () => {
    const { anonymous } = cluster.certificates;
    const { cert, key } = await (await testAuthority("another authority")).issue("stranger");
    const stranger = { ...anonymous, clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) } };
    for (const tls of [null, anonymous, stranger]) expect(await answerTo(cluster.address, tls)).to.be.instanceOf(Error);
  });
});
