"""A NETVIRT instance from the checks to the finalization, by the vendor's own client library. Prints what it saw."""

import json
import sys
import time

import requests
from vcf.nsx.api.v1.cluster.backups_client import History
from vcf.nsx.api.v1.node_client import Status as NodeStatus
from vcf.nsx.api.v1.trust_management_client import Certificates
from vcf.nsx.api.v1.upgrade.plan_client import Settings
from vcf.nsx.api.v1.upgrade.pre_upgrade_checks_client import Failures
from vcf.nsx.api.v1.upgrade.upgrade_unit_groups_client import Status as GroupStatus
from vcf.nsx.api.v1.upgrade_client import Plan, StatusSummary, Summary, UpgradeUnitGroups, UpgradeUnitGroupsStatus
from vcf.nsx.api.v1_client import Upgrade
from vcf.nsx.model_client import ApiError
from vmware.vapi.lib.connect import get_requests_connector
from vmware.vapi.stdlib.client.factories import StubConfigurationFactory

url, manager = sys.argv[1:3]
seen = {}
answers = []


def configuration():
    session = requests.Session()
    session.auth = ("admin", "any")
    # The library drops the body of an error.
    session.hooks["response"].append(lambda answer, **_: answers.append(answer))
    connector = get_requests_connector(session=session, msg_protocol="rest", url=f"{url}/nsx/{manager}")
    return StubConfigurationFactory.new_runtime_configuration(connector)


def fault(request):
    requests.post(url + "/simulator/faults", json=request, timeout=5).raise_for_status()


def refused(call):
    """Status and code of the error that a call raises."""
    try:
        call()
    except ApiError:
        return [answers[-1].status_code, answers[-1].json()["error_code"]]
    return "it was taken"


stub = configuration()
node = NodeStatus(stub).node_read_appliance_node_status()
backups = History(stub).policy_get_backup_history().cluster_backup_statuses
certificates = Certificates(stub).get_certificates(details=True).results
seen["condition"] = [
    [one.mount for one in node.file_systems],
    abs(node.system_time / 1000 - time.time()) < 60,
    [one.success for one in backups],
    [[one.id, len(one.used_by), one.details[0].not_after > node.system_time] for one in certificates],
]
summary, plan, groups = Summary(stub), Plan(stub), UpgradeUnitGroups(stub)
statuses, settings = StatusSummary(stub), Settings(stub)


def component(name):
    """What the overall status says of a component; while the managers restart nothing is answered."""
    try:
        told = statuses.get_upgrade_status_summary()
    except (ApiError, requests.ConnectionError):
        return "AWAY"
    status = next(one.status for one in told.component_status if one.component_type == name)
    return "IN_PROGRESS" if told.overall_upgrade_status == "IN_PROGRESS" else status


def upgrade(name):
    plan.execute_upgrade(name)
    deadline = time.time() + 60
    while time.time() < deadline:
        status = component(name)
        if status in ("SUCCESS", "FAILED", "PAUSED"):
            return status
        time.sleep(0.05)
    raise TimeoutError(name)


before = summary.get_upgrade_summary()
seen["versions"] = [before.system_version, before.target_version, before.upgrade_status]
fault({"kind": "NSX_ACCOUNT_REFUSED", "times": 1})
seen["refusedAccount"] = refused(lambda: summary.get_upgrade_summary())
Upgrade(stub).execute_pre_upgrade_checks()
fault({"kind": "NSX_PRECHECKS_RUNNING", "times": 1})
seen["checksAgain"] = refused(lambda: Upgrade(stub).execute_pre_upgrade_checks())
while any(one.pre_upgrade_status.status == "IN_PROGRESS" for one in statuses.get_upgrade_status_summary().component_status):
    time.sleep(0.05)
seen["objections"] = Failures(stub).get_pre_upgrade_check_failures().result_count

hosts = settings.get_upgrade_plan_settings("HOST")
hosts.parallel, hosts.pause_on_error = False, True
seen["settings"] = [settings.update_upgrade_plan_settings("HOST", hosts).pause_on_error, hosts.parallel]
listed = groups.get_upgrade_unit_groups(sync=True).results
seen["groups"] = sorted(f"{one.type} {one.display_name} {one.upgrade_unit_count}" for one in listed)
group = groups.get_upgrade_unit_group(next(one.id for one in listed if one.type == "HOST"))
stale = group.revision
group.parallel = True
changed = groups.update_upgrade_unit_group(group.id, group)
seen["group"] = [changed.parallel, changed.revision > stale]
group.revision = stale
seen["stale"] = refused(lambda: groups.update_upgrade_unit_group(group.id, group))
seen["unknownGroup"] = refused(lambda: groups.get_upgrade_unit_group("none"))

fault({"kind": "NSX_STILL_IN_PROGRESS", "times": 1})
seen["stillInProgress"] = refused(lambda: statuses.get_upgrade_status_summary())
seen["upgraded"] = {name: upgrade(name) for name in ("MP", "EDGE", "HOST", "FINALIZE_UPGRADE")}
of_hosts = UpgradeUnitGroupsStatus(stub).get_upgrade_unit_groups_status("HOST").results
seen["groupStatus"] = sorted(f"{one.group_name} {one.status} {one.percent_complete}" for one in of_hosts)
units = GroupStatus(stub).get_upgrade_unit_group_status(group.id).results
seen["units"] = sorted({one.status for one in units})
after = summary.get_upgrade_summary()
seen["after"] = [after.system_version, after.upgrade_status]
print(json.dumps(seen))
