"""A client that openapi-python-client has made of the service's /openapi.json: it drafts an upgrade, commits it, follows
it to the end, and cancels another one. Prints what it has seen as JSON."""

import json
import sys
import time
from typing import TypeVar

from upgrades.api.tasks import cancel_task, get_task
from upgrades.api.upgrades import get_upgrade, list_upgrades, start_upgrade, update_upgrade
from upgrades.client import AuthenticatedClient
from upgrades.models import (
    Error,
    FailureAction,
    HostosUpgradeFailureAction,
    HostosUpgradeOptionsSpec,
    ResourceType,
    ResourceUpgradeSpec,
    Task,
    TaskStatus,
    Upgrade,
    UpgradeSpec,
    UpgradeStatus,
    UpgradeUpdateSpec,
)

A = TypeVar("A")

base_url, token, cluster, first_bundle, second_bundle = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=token, raise_on_unexpected_status=True)


def expect_data(answer: A | Error | None) -> A:
    """The data of an answer, or an exception that says what to do."""
    if answer is None or isinstance(answer, Error):
        raise RuntimeError(answer)
    return answer


def start(bundle: str, draft: bool) -> Task:
    action = HostosUpgradeFailureAction(action=FailureAction.RETRY, retry_count=1, retry_delay=0)
    options = HostosUpgradeOptionsSpec(hostos_upgrade_failure_action=action)
    spec = UpgradeSpec(
        bundle_id=bundle,
        resource_type=ResourceType.CLUSTER,
        draft_mode=draft,
        resource_upgrade_specs=[ResourceUpgradeSpec(resource_id=cluster, hostos_upgrade_options_spec=options)],
    )
    return expect_data(start_upgrade.sync(client=client, body=spec))


def read(id: str) -> Upgrade:
    return expect_data(get_upgrade.sync(id, client=client))


def follow(id: str) -> Task:
    """Reads a task again and again until it has ended."""
    while True:
        task = expect_data(get_task.sync(id, client=client))
        if task.status not in (TaskStatus.PENDING, TaskStatus.IN_PROGRESS):
            return task
        time.sleep(0.2)


draft = start(first_bundle, draft=True)
drafted = read(draft.id)
expect_data(update_upgrade.sync(draft.id, client=client, body=UpgradeUpdateSpec(upgrade_now=True)))
task = follow(draft.id)

second = start(second_bundle, draft=False)
expect_data(cancel_task.sync(second.id, client=client))
cancelled = follow(second.id)

page = expect_data(
    list_upgrades.sync(client=client, status=[UpgradeStatus.COMPLETED_WITH_SUCCESS], resource_id=cluster)
)
unknown = get_upgrade.sync("00000000-0000-4000-8000-000000000000", client=client)

print(
    json.dumps(
        {
            "drafted": drafted.status,
            "upgraded": [task.status, read(draft.id).status],
            "followed": isinstance(task.sub_tasks, list) and len(task.sub_tasks) > 0,
            "cancelled": [cancelled.status, read(second.id).status],
            "listed": [upgrade.id == draft.id for upgrade in page.elements or []],
            "unknown": unknown.error_code if isinstance(unknown, Error) else None,
        }
    )
)
