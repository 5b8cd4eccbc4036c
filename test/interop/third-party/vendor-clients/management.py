"""A host of a baseline-managed cluster from maintenance mode to its new version, by pyVmomi. Prints what it saw."""

import json
import sys
import time

import requests
from pyVim.connect import Disconnect, SmartConnect
from pyVim.task import WaitForTask
from pyVmomi import vim, vmodl

url, depot = sys.argv[1:3]
address, port = url.removeprefix("http://").split(":")
seen = {}


def all_of(kind):
    view = content.viewManager.CreateContainerView(content.rootFolder, [kind], True)
    try:
        return list(view.view)
    finally:
        view.DestroyView()


def end(task, seconds=30):
    deadline = time.time() + seconds
    while task.info.state in ("queued", "running"):
        if time.time() > deadline:
            raise TimeoutError(task.info.descriptionId)
        time.sleep(0.05)
    return task.info


def refused(call):
    """The name of the fault that a call, or the task that it gives, ends with."""
    try:
        info = end(call())
        return type(info.error).__name__.split(".")[-1] if info.error else "it was taken"
    except vmodl.MethodFault as fault:
        return type(fault).__name__.split(".")[-1]


service = SmartConnect(protocol="http", host=address, port=int(port), user="operator", pwd="any")
content = service.RetrieveContent()
seen["about"] = content.about.apiType
seen["clusters"] = {one.name: len(one.host) for one in all_of(vim.ClusterComputeResource)}
cluster = next(one for one in all_of(vim.ClusterComputeResource) if one.name == "ams1-edge-cl01")
host = cluster.host[0]
seen["host"] = [host.name, host.runtime.connectionState, host.runtime.powerState, host.runtime.inMaintenanceMode]
before = host.config.product.build

settings = cluster.configurationEx.dasConfig
seen["admissionControl"] = settings.admissionControlEnabled
change = vim.cluster.ConfigSpecEx(dasConfig=vim.cluster.DasConfigInfo(admissionControlEnabled=False))
seen["reconfigured"] = end(cluster.ReconfigureComputeResource_Task(change, True)).state
seen["admissionControlNow"] = cluster.configurationEx.dasConfig.admissionControlEnabled

machine = next(vm for vm in host.vm if vm.runtime.powerState == "poweredOn")
seen["poweredOff"] = [end(machine.PowerOffVM_Task()).state, machine.runtime.powerState]
seen["poweredOffAgain"] = refused(machine.PowerOffVM_Task)
seen["poweredOn"] = [end(machine.PowerOnVM_Task()).state, machine.runtime.powerState]
seen["suspended"] = [end(machine.SuspendVM_Task()).state, machine.runtime.powerState]
seen["resumed"] = end(machine.PowerOnVM_Task()).state

room = cluster.EnterMaintenanceMode(host=list(cluster.host))
actions = [action for one in room.recommendations for action in one.action]
seen["room"] = [len(actions), {action.type for action in actions} == {"HostMaintenanceV1"}, room.fault.faultsByVm[0].vm]
now = host.configManager.dateTimeSystem.QueryDateTime()
seen["clock"] = abs((now - service.CurrentTime()).total_seconds()) < 60
certificate = host.configManager.certificateManager.certificateInfo
seen["certificate"] = [certificate.status, (certificate.notAfter - now).days]

patches = host.configManager.patchManager
seen["patchOutside"] = refused(lambda: patches.InstallHostPatchV2_Task(metaUrls=[depot]))
seen["entered"] = [WaitForTask(host.EnterMaintenanceMode_Task(0, True), si=service), host.runtime.inMaintenanceMode]
seen["enteredAgain"] = refused(lambda: host.EnterMaintenanceMode_Task(0, True))
seen["machinesLeft"] = sum(vm.runtime.powerState == "poweredOn" for vm in host.vm)
seen["patched"] = WaitForTask(patches.InstallHostPatchV2_Task(metaUrls=[depot]), si=service)
seen["rebootRequired"] = host.summary.rebootRequired
seen["restarted"] = end(host.RebootHost_Task(False)).state


def build():
    """What the host runs; nothing is known of it while it is away."""
    config = host.config
    return config.product.build if config else None


deadline = time.time() + 30
while host.runtime.connectionState != "connected" or build() in (None, before):
    if time.time() > deadline:
        raise TimeoutError("the host is not back")
    time.sleep(0.05)
seen["left"] = [end(host.ExitMaintenanceMode_Task(0)).state, host.runtime.inMaintenanceMode]
seen["build"] = [before, build()]

requests.post(url + "/simulator/faults", json={"kind": "SESSIONS_EXPIRED"}, timeout=5).raise_for_status()
seen["expired"] = refused(lambda: host.EnterMaintenanceMode_Task(0, True))
service = SmartConnect(protocol="http", host=address, port=int(port), user="operator", pwd="any")
Disconnect(service)
print(json.dumps(seen))
