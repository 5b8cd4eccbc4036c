import { expect } from "chai";
import * as fc from "fast-check";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import { taskExample, upgradeSpecExample } from "../../../src/api/openapi/examples";
import type { Role } from "../../../src/authentication/authentication";
import { clientAddress } from "../../../src/authentication/client-address";
import { unexpected } from "../../../src/upgrades/service-error";
import { type ApiOptions, type LogLine, startApiUnderTest } from "./api-under-test";

const { id } = taskExample;

/** The caller is named as the role that is the token. */
const authentication = {
  authenticate: (token: string | undefined) => TE.right({ caller: `some ${token}`, role: token as Role | undefined }),
};

describe("the audit trail", () => {
  async function linesOf(options: ApiOptions, ask: (agent: ReturnType<typeof request>) => Promise<unknown>) {
    const api = await startApiUnderTest({ authentication, ...options });
    await ask(request(api.url));
    await api.close();
    return api.auditLines;
  }

  it("has a line of every request that may change something: who, what, from where, and whether it was done", async () => {
    const [line, ...more] = await linesOf({}, (agent) =>
      agent
        .post("/v1/upgrades?secret=query")
        .set("Authorization", "OPERATOR")
        .set("x-request-id", "my-id")
        .send({ ...upgradeSpecExample, bundleId: "secret-bundle" }),
    );
    expect(more).to.deep.equal([]);
    expect(line).to.include({
      event: "audit",
      action: "startUpgrade",
      outcome: "DONE",
      caller: "some OPERATOR",
      callerRole: "OPERATOR",
      upgradeId: id,
      method: "POST",
      address: "127.0.0.1",
      requestId: "my-id",
      status: 202,
    });
    expect(JSON.stringify(line)).to.not.contain("secret");
  });

  it("says why, as the upgrade's change record has it", async () => {
    const changeRecord = { reason: "Security fixes", changeId: "CHG1", labels: { team: "blue" } };
    const service = { startUpgrade: () => TE.right({ ...taskExample, ...changeRecord }) };
    const [line] = await linesOf({ service }, (agent) =>
      agent.post("/v1/upgrades").set("Authorization", "OPERATOR").send(upgradeSpecExample),
    );
    expect(line).to.deep.include(changeRecord);
  });

  it("says who overrode the maintenance window and why", async () => {
    const maintenanceOverride = { reason: "Zero-day", at: "2026-11-29T01:00:00.000Z", by: "root" };
    const told = { maintenanceWindow: "IGNORE" as const, maintenanceOverride };
    const service = { startUpgrade: () => TE.right({ ...taskExample, ...told }) };
    const [line] = await linesOf({ service }, (agent) =>
      agent
        .post("/v1/upgrades")
        .set("Authorization", "ADMIN")
        .send({ ...upgradeSpecExample, maintenanceWindow: "IGNORE", reason: "Zero-day" }),
    );
    expect(line).to.deep.include(told);
  });

  it("names the upgrade of the path, and who was refused", async () => {
    const [line] = await linesOf({}, (agent) => agent.delete(`/v1/tasks/${id}`).set("Authorization", "VIEWER"));
    expect(line).to.include({
      action: "cancelTask",
      outcome: "REFUSED",
      caller: "some VIEWER",
      callerRole: "VIEWER",
      upgradeId: id,
      status: 403,
      errorCode: "ROLE_REQUIRED",
    });
  });

  it("tells what failed", async () => {
    const service = { cancelTask: () => TE.left(unexpected(new Error("broken"))) };
    const [line] = await linesOf({ service }, (agent) => agent.delete(`/v1/tasks/${id}`).set("Authorization", "ADMIN"));
    expect(line).to.include({ outcome: "FAILED", status: 500, errorCode: "INTERNAL_ERROR" });
  });

  it("has no line of reads, and none of what no route takes", async () => {
    const lines = await linesOf({}, async (agent) => {
      await agent.get(`/v1/tasks/${id}`).set("Authorization", "VIEWER");
      await agent.post("/nowhere").set("Authorization", "ADMIN");
      await agent.put("/v1/upgrades").set("Authorization", "ADMIN");
    });
    expect(lines).to.deep.equal([]);
  });

  it("believes X-Forwarded-For of a trusted proxy only", async () => {
    const from = async (trusted: string[]): Promise<LogLine | undefined> => {
      const [line] = await linesOf({ addressOf: clientAddress(trusted) }, (agent) =>
        agent.delete(`/v1/tasks/${id}`).set("Authorization", "ADMIN").set("X-Forwarded-For", "192.0.2.9, 198.51.100.7"),
      );
      return line;
    };
    expect(await from([])).to.have.property("address", "127.0.0.1");
    expect(await from(["10.0.0.0/8"])).to.have.property("address", "127.0.0.1");
    expect(await from(["127.0.0.0/8"])).to.have.property("address", "198.51.100.7");
    expect(await from(["127.0.0.1", "198.51.100.0/24"])).to.have.property("address", "192.0.2.9");
  });
});

describe("clientAddress", () => {
  const message = (remoteAddress: string, forwarded: string[]) => ({
    socket: { remoteAddress },
    headersDistinct: { "x-forwarded-for": forwarded },
  });

  it("is never what the client wrote before the addresses of proxies", () => {
    const addressOf = clientAddress(["10.0.0.0/8", "fd00::/8"]);
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), { maxLength: 4 }), (forged) => {
        const header = [...forged.map((text) => text.replaceAll(",", "")), "203.0.113.5", "10.1.1.1"].join(", ");
        expect(addressOf(message("10.2.2.2", [header]))).to.equal("203.0.113.5");
      }),
    );
  });

  it("is that of the connection where the header holds no address", () => {
    const addressOf = clientAddress(["10.0.0.0/8"]);
    for (const forwarded of [[], [""], ["unknown"], ["192.0.2.1, unknown"]])
      expect(addressOf(message("10.2.2.2", forwarded))).to.equal("10.2.2.2");
    expect(addressOf(message("::ffff:192.0.2.1", []))).to.equal("192.0.2.1");
    expect(addressOf(message("fe80::1%eth0.100", []))).to.equal("fe80::1");
  });
});
