"""Upgrades by the client of a service of our kind: from login to a retry and a cancellation. Prints what it saw."""

import json
import sys
import time

import requests
import vmware.sddc_manager_client as sddc_manager
from vmware.sddc_manager.model_client import (
    Error,
    EsxUpgradeFailureAction,
    EsxUpgradeOptionsSpec,
    ResourceUpgradeSpec,
    TokenCreationSpec,
    UpgradeCommitSpec,
    UpgradeSpec,
)
from vmware.vapi.bindings.stub import ApiClient
from vmware.vapi.lib.connect import get_requests_connector
from vmware.vapi.security.oauth import create_oauth_security_context
from vmware.vapi.stdlib.client.factories import StubConfigurationFactory

url, username, password, bundle, done, failing, dropped = sys.argv[1:8]
seen = {}


def client(token=None):
    connector = get_requests_connector(session=requests.Session(), msg_protocol="rest", url=url)
    if token:
        connector.set_security_context(create_oauth_security_context(token))
    return ApiClient(sddc_manager.StubFactory(StubConfigurationFactory.new_std_configuration(connector))).v1


def code(call):
    try:
        call()
        return None
    except Error as error:
        return error.error_code


def spec(cluster, draft=False):
    action = EsxUpgradeFailureAction(action="FAIL", retry_count=0, retry_delay=0)
    return UpgradeSpec(
        bundle_id=bundle,
        resource_type="CLUSTER",
        draft_mode=draft,
        resource_upgrade_specs=[
            ResourceUpgradeSpec(
                resource_id=cluster,
                upgrade_now=True,
                esx_upgrade_options_spec=EsxUpgradeOptionsSpec(esx_upgrade_failure_action=action),
            )
        ],
    )


def until(read, *statuses, seconds=60):
    deadline = time.time() + seconds
    while (task := read()).status not in statuses:
        if time.time() > deadline:
            raise TimeoutError(task.status)
        time.sleep(0.1)
    return task


def task_until(id, *statuses):
    return until(lambda: v1.Tasks.get_task(id), *statuses)


def bars(sub_tasks):
    return all(s.name and s.type and s.status and s.description and bars(s.sub_tasks) for s in sub_tasks or [])


pair = client().Tokens.create_token(TokenCreationSpec(username=username, password=password))
v1 = client(pair.access_token)
v1 = client(v1.tokens.access_token.Refresh.refresh_access_token(pair.refresh_token.id))

seen["bundle"] = [b.type for b in v1.Bundles.get_bundles().elements if b.id == bundle]
seen["clusters"] = {c.name: c.domain.name for c in v1.Clusters.get_clusters().elements}
seen["hosts"] = len(v1.Clusters.get_cluster(done).hosts)
seen["unknown"] = [code(lambda: v1.Tasks.get_task("none")), code(lambda: v1.Upgrades.get_upgrade_by_id("none"))]
seen["refused"] = code(lambda: v1.Upgrades.perform_upgrade(UpgradeSpec(bundle_id=bundle, resource_type="DOMAIN")))

draft = v1.Upgrades.perform_upgrade(spec(done, draft=True)).id
until(lambda: v1.Upgrades.get_upgrade_by_id(draft), "DRAFT")
# A draft whose prechecks have not begun is Pending too.
until(lambda: v1.upgrades.Prechecks.get_upgrade_precheck_by_id(draft, f"{draft}-prechecks-1"), "Successful")
run = v1.upgrades.Prechecks.start_upgrade_precheck(draft).id
checked = until(lambda: v1.upgrades.Prechecks.get_upgrade_precheck_by_id(draft, run), "Successful", "Failed")
seen["prechecks"] = [checked.status, bars(checked.sub_tasks)]
seen["committed"] = v1.Upgrades.update_upgrade_schedule(draft, UpgradeCommitSpec(upgrade_now=True)).task_id == draft
upgraded = task_until(draft, "Successful", "Failed")
seen["upgraded"] = [upgraded.status, upgraded.completion_timestamp is not None, bars(upgraded.sub_tasks)]
seen["tooLate"] = [code(lambda: v1.Tasks.retry_task(draft)), code(lambda: v1.Tasks.cancel_task(draft))]

broken = v1.Upgrades.perform_upgrade(spec(failing)).id
failed = task_until(broken, "Successful", "Failed")
seen["failed"] = [failed.status, failed.is_retryable, failed.resolution_status, failed.errors[0].error_code]
v1.Tasks.retry_task(broken)
retried = task_until(broken, "Successful", "Cancelled")
seen["retried"] = [retried.status, retried.resolution_status]

unwanted = [v1.Upgrades.perform_upgrade(spec(dropped, draft=True)).id for _ in range(2)]
v1.Tasks.cancel_task(unwanted[0])
v1.Upgrades.update_upgrade_schedule(unwanted[1], UpgradeCommitSpec(mark_for_cancellation=True))
seen["cancelled"] = [task_until(id, "Cancelled", "Failed").status for id in unwanted]

page = v1.Upgrades.get_upgrades(status="COMPLETED_WITH_SUCCESS")
seen["listed"] = [sorted(u.id for u in page.elements) == sorted([draft, broken]), page.page_metadata.total_elements]
seen["tasks"] = v1.Tasks.get_tasks(task_status="CANCELLED", limit=9, order_by="name").page_metadata.total_elements
seen["stranger"] = code(lambda: client("none").Upgrades.perform_upgrade(spec(done)))
print(json.dumps(seen))
