import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import type { Decoder } from "io-ts";
import { CheckFailures, UnitGroups } from "../../../activities/drivers/nsx/nsx-models";
import { inventoryReader } from "../../../activities/drivers/vim25/property-collector";
import { ClusterSummaries, HostSummaries, TaskInfo } from "../../../activities/drivers/vlcm/vlcm-models";
import { isGroup, nameOf } from "../../../activities/netvirt/netvirt-settings";

/** A line break, a command to the terminal, text that is turned, and half a surrogate pair. */
const hostile = "esx-01\r\n\u001b[2J\u202egpj.exe\ud83d";
const clean = "esx-01 [2J gpj.exe\ufffd";

function decoded<A>(codec: Decoder<unknown, A>, value: unknown): A {
  const read = codec.decode(value);
  if (isRight(read)) return read.right;
  throw new Error("is not decoded");
}

describe("a name that a component manager gives", () => {
  it("is cleaned where it comes in, and the id beside it is not", () => {
    expect(decoded(ClusterSummaries, [{ cluster: hostile, name: hostile }])).to.deep.equal([
      { cluster: hostile, name: clean },
    ]);
    const host = { host: hostile, connection_state: "CONNECTED" };
    expect(decoded(HostSummaries, [{ ...host, name: hostile }])).to.deep.equal([{ ...host, name: clean }]);
    const task = { status: "RUNNING", operation: "apply", service: "cluster", cancelable: true };
    const description = { default_message: hostile };
    expect(decoded(TaskInfo, { ...task, description }).description).to.deep.equal({ default_message: clean });
    const failure = { group_name: hostile, origin_name: hostile, message: { message: hostile } };
    expect(decoded(CheckFailures, { results: [failure] }).results).to.deep.equal([
      { group_name: clean, origin_name: clean, message: { message: clean } },
    ]);
  });

  it("is left as it is where there is nothing to clean", () => {
    const name = "Köln__01 `prod` *a* <b> \u7f8e\u56fd 🙂";
    expect(decoded(ClusterSummaries, [{ cluster: "domain-c8", name }])).to.deep.equal([{ cluster: "domain-c8", name }]);
  });

  it("is cleaned by the management interface too", () => {
    const { clusterOf, hostOf, vmOf } = inventoryReader("vc-01");
    const read = (type: string, properties: Record<string, string | object>) => ({
      object: { type, id: "id\u202e-1" },
      properties: { name: hostile, ...properties } as never,
    });
    const cluster = read("ClusterComputeResource", { configurationEx: { dasConfig: "", drsConfig: "" } });
    expect(clusterOf("", cluster)).to.include({ cluster: "id\u202e-1", name: clean });
    const host = read("HostSystem", { "runtime.connectionState": "connected", "runtime.inMaintenanceMode": "false" });
    expect(hostOf("", host, [])).to.include({ host: "id\u202e-1", name: clean });
    const where = { "@type": "HostSystem", "#text": "host-1" };
    const vm = read("VirtualMachine", { "runtime.host": where, "runtime.powerState": "poweredOn" });
    expect(vmOf("", vm, new Set())).to.include({ vm: "id\u202e-1", name: clean, host: "host-1" });
  });

  it("is cleaned where it is shown, of a group of NETVIRT, which is put back as it was read", () => {
    const group = { id: "g-1", display_name: hostile, upgrade_units: [{ id: "u-1", display_name: hostile }] };
    const [read] = decoded(UnitGroups, { results: [group] }).results ?? [];
    expect(read).to.deep.equal(group);
    expect([read, ...(read?.upgrade_units ?? [])].map((named) => named && nameOf(named))).to.deep.equal([clean, clean]);
    for (const id of [hostile, clean, "G-1"]) expect(isGroup({ id }, group), id).to.equal(id !== "G-1");
  });
});
