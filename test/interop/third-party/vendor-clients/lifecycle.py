"""A cluster from login to a remediated host, by the vendor's bindings of the lifecycle manager. Prints what it saw."""

import json
import sys

from com.vmware.cis_client import Session
from com.vmware.esx.settings.clusters.enablement_client import Software as Enablement
from com.vmware.esx.settings.clusters.policies.apply_client import Effective
from com.vmware.esx.settings.clusters.policies_client import Apply as ApplyPolicy
from com.vmware.esx.settings.clusters.software.drafts.software_client import BaseImage
from com.vmware.esx.settings.clusters.software.reports_client import HardwareCompatibility, LastApplyResult, LastCheckResult
from com.vmware.esx.settings.clusters.software_client import Compliance, Drafts
from com.vmware.esx.settings.clusters_client import Software
from com.vmware.esx.settings_client import BaseImageSpec
from com.vmware.vcenter_client import Cluster, Host

from rest_form import Manager, configuration, fault, refused

url = sys.argv[1]
cluster, target = "domain-c8", "9.0.1-0.24957456"
manager = Manager(url)
stub, end = manager.stub, manager.end
seen = {}

stranger = configuration(url + "/api", {"vmware-api-session-id": "none"})
seen["stranger"] = refused(lambda: Cluster(stranger).list())
seen["clusters"] = {c.cluster: c.name for c in Cluster(stub).list()}
# Without a filter: the bindings do not say how it is written in a URL.
seen["hosts"] = sorted(f"{h.host} {h.connection_state} {h.power_state}" for h in Host(stub).list())
seen["imageManaged"] = {c: Enablement(stub).get(c).enabled for c in seen["clusters"]}
seen["unknownCluster"] = refused(lambda: Compliance(stub).get("domain-c404"))

policies = ApplyPolicy(stub)
before = policies.get(cluster)
seen["failureAction"] = Effective(stub).get(cluster).failure_action.action
policies.set(cluster, ApplyPolicy.ConfiguredPolicySpec(disable_hac=True, enable_quick_boot=True))
ours = policies.get(cluster)
seen["policy"] = [ours.disable_hac, ours.enable_quick_boot, ours.disable_dpm]

drafts, software = Drafts(stub), Software(stub)
draft = drafts.create(cluster)
seen["secondDraft"] = refused(lambda: drafts.create(cluster))
BaseImage(stub).set(cluster, draft, BaseImageSpec(version=target))
seen["draft"] = [drafts.get(cluster, draft).software.base_image.version, draft in drafts.list(cluster)]
seen["validated"] = end(drafts.validate_task(cluster, draft)).status
seen["committed"] = end(drafts.commit_task(cluster, draft, Drafts.CommitSpec(message="by the vendor"))).status
seen["image"] = software.get(cluster).base_image.version

seen["scanned"] = end(software.scan_task(cluster)).status
compliance = Compliance(stub).get(cluster)
seen["compliance"] = [compliance.status, len(compliance.non_compliant_hosts)]
end(software.check_task(cluster, Software.CheckSpec(hosts={"host-11"})))
seen["checked"] = LastCheckResult(stub).get(cluster).status
seen["hardware"] = refused(lambda: HardwareCompatibility(stub).get(cluster))
seen["staged"] = end(software.stage_task(cluster, Software.StageSpec(hosts={"host-11"}))).status

one = Software.ApplySpec(hosts={"host-11"}, accept_eula=True)
applied = end(software.apply_task(cluster, one))
last = LastApplyResult(stub).get(cluster)
seen["applied"] = [applied.status, applied.service, applied.operation, last.status.status, sorted(last.successful_hosts)]
seen["again"] = refused(lambda: software.apply_task(cluster, one))
fault(url, {"kind": "EULA_NOT_ACCEPTED", "times": 1})
seen["eula"] = refused(lambda: software.apply_task(cluster, Software.ApplySpec(hosts={"host-12"})))
fault(url, {"kind": "REMEDIATION_FAILS", "host": "host-12", "times": 1, "message": "The bootbank is full."})
failed = end(software.apply_task(cluster, Software.ApplySpec(hosts={"host-12"}, accept_eula=True)))
host = LastApplyResult(stub).get(cluster).host_status["host-12"]
seen["failed"] = [failed.status, host.status, [error.message.default_message for error in host.notifications.errors]]
fault(url, {"kind": "MAINTENANCE_MODE_HANGS", "host": "host-13", "times": 1})
hanging = software.apply_task(cluster, Software.ApplySpec(hosts={"host-13"}, accept_eula=True))
seen["busy"] = refused(lambda: software.apply_task(cluster, Software.ApplySpec(hosts={"host-14"}, accept_eula=True)))
manager.tasks.cancel(hanging.get_task_id())
seen["cancelled"] = end(hanging).status
policies.set(cluster, before)
fault(url, {"kind": "TASKS_FORGOTTEN"})
seen["forgotten"] = refused(lambda: manager.tasks.get(hanging.get_task_id()))
Session(stub).delete()
seen["afterLogout"] = refused(lambda: Cluster(stub).list())
print(json.dumps(seen))
