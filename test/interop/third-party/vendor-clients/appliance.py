"""An update in place and a migration, by the vendor's bindings of the appliance. Prints what it saw."""

import json
import sys
from datetime import datetime, timezone

import requests
from com.vmware.appliance.health_client import Storage
from com.vmware.appliance.recovery.backup.job_client import Details
from com.vmware.appliance.system_client import Time, Version
from com.vmware.appliance.update_client import Pending, Staged
from com.vmware.appliance_client import Update
from com.vmware.vcenter.certificate_management.vcenter_client import Tls
from com.vmware.vcenter.lcm.deployment.common_client import ApplianceDeployment, ApplianceDeploymentConfig, Network
from com.vmware.vcenter.lcm.deployment.migration_upgrade_client import Status
from com.vmware.vcenter.lcm.deployment_client import MigrationUpgrade

from rest_form import Manager, fault, refused, until

url = sys.argv[1]
seen = {}


def in_place(version):
    manager = Manager(url)
    update, pending, staged = (service(manager.stub) for service in (Update, Pending, Staged))
    seen["version"] = Version(manager.stub).get().version
    seen["state"] = update.get().state
    backups = Details(manager.stub).list().values()
    days = (Tls(manager.stub).get().valid_to.replace(tzinfo=timezone.utc) - datetime.now(timezone.utc)).days
    away = abs(float(Time(manager.stub).get().seconds_since_epoch) - datetime.now(timezone.utc).timestamp())
    seen["condition"] = [[one.status for one in backups], days, away < 60, Storage(manager.stub).get()]
    local = Pending.SourceType.LOCAL
    seen["pending"] = sorted(f"{one.version} {one.update_type} {one.reboot_required}" for one in pending.list(local))
    seen["unknownUpdate"] = refused(lambda: pending.precheck("9.9.9.9"))
    check = pending.precheck(version)
    seen["precheck"] = [check.reboot_required, check.issues.errors if check.issues else []]
    pending.stage(version)
    until(update.get, lambda info: info.state != "STAGE_IN_PROGRESS")
    seen["staged"] = [staged.get().version, staged.get().staging_complete]
    pending.install(version, {})
    seen["second"] = refused(lambda: pending.install(version, {}))
    until(lambda: Manager(url).stub, lambda stub: Version(stub).get().version == version)
    after = Manager(url).stub
    seen["installed"] = [Version(after).get().version, Update(after).get().state]


def failed_installation(version):
    fault(url, {"kind": "MGMT_INSTALL_FAILS", "times": 1})
    manager = Manager(url)
    Pending(manager.stub).stage(version)
    until(Update(manager.stub).get, lambda info: info.state != "STAGE_IN_PROGRESS")
    Pending(manager.stub).install(version, {})
    seen["failedInstallation"] = until(lambda: Update(Manager(url).stub).get().state, lambda state: state != "INSTALL_IN_PROGRESS")


def migration(version):
    manager = Manager(url)
    upgrade, status = MigrationUpgrade(manager.stub), Status(manager.stub)
    network = Network(
        mode=Network.NetworkMode.STATIC, ip="10.20.30.40", prefix=24, gateway="10.20.30.1", dns_servers=["10.20.30.2"]
    )
    appliance = ApplianceDeployment(root_password="any", network_settings=network)
    spec = MigrationUpgrade.InitSpec(version=version, deployment=ApplianceDeploymentConfig(appliance=appliance))
    seen["check"] = manager.end(upgrade.check_task(spec)).status
    upgrade.set(spec)
    seen["migration"] = upgrade.get().version
    until(status.get, lambda info: info.current_state == "INITIALIZED")
    before = MigrationUpgrade.PausePolicy.BEFORE_SWITCHOVER
    seen["pauseAndTime"] = refused(
        lambda: upgrade.apply(MigrationUpgrade.ApplySpec(pause=before, start_switchover=datetime.now(timezone.utc)))
    )
    upgrade.apply(MigrationUpgrade.ApplySpec(pause=before))
    prepared = until(status.get, lambda info: info.current_state == "PREPARED")
    seen["prepared"] = [prepared.status, prepared.upgrade_info.pause, prepared.upgrade_info.upgrade_to]
    upgrade.apply(MigrationUpgrade.ApplySpec())
    until(lambda: Version(Manager(url).stub).get().version, lambda runs: runs == version)
    seen["migrated"] = until(lambda: Status(Manager(url).stub).get(), lambda info: info.status == "SUCCEEDED").current_state


def cancelled_migration(version):
    fault(url, {"kind": "MGMT_STUCK", "state": "PREPARING", "times": 1})
    manager = Manager(url)
    upgrade, status = MigrationUpgrade(manager.stub), Status(manager.stub)
    appliance = ApplianceDeployment(root_password="any")
    upgrade.set(MigrationUpgrade.InitSpec(version=version, deployment=ApplianceDeploymentConfig(appliance=appliance)))
    until(status.get, lambda info: info.current_state == "INITIALIZED")
    upgrade.apply(MigrationUpgrade.ApplySpec())
    until(status.get, lambda info: info.current_state == "PREPARING")
    upgrade.cancel()
    seen["cancelled"] = until(status.get, lambda info: info.current_state == "CANCELED").status


def reset():
    requests.post(url + "/simulator/reset", timeout=5).raise_for_status()


in_place("9.0.1.0")
reset()
failed_installation("9.0.1.0")
reset()
cancelled_migration("9.0.2.0")
reset()
migration("9.0.2.0")
print(json.dumps(seen))
