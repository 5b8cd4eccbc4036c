import { expect } from "chai";
import { parallelRemediation, remediationPolicy } from "../../../activities/clusters/image/image-policy";

describe("the remediation policy that is put", () => {
  it("has every option in the field of its name, and never lets the product retry", () => {
    const policy = remediationPolicy(
      { failure_action: { action: "RETRY", retry_count: 3, retry_delay: 300 } },
      {
        preRemediationPowerAction: "SUSPEND_VMS",
        enableQuickboot: true,
        disableDpm: true,
        disableHac: false,
        evacuateOfflineVms: true,
        enforceHclValidation: true,
        enableQuickPatch: false,
      },
    );
    expect(policy).to.deep.equal({
      failure_action: { action: "FAIL" },
      pre_remediation_power_action: "SUSPEND_VMS",
      enable_quick_boot: true,
      disable_dpm: true,
      disable_hac: false,
      evacuate_offline_vms: true,
      enforce_hcl_validation: true,
      enforce_quick_patch: false,
    });
  });

  it("keeps what the request does not name, because a PUT replaces all", () => {
    const previous = {
      enable_quick_boot: true,
      enforce_hcl_validation: true,
      parallel_remediation_action: { enabled: true, max_hosts: 4 },
      config_manager_policy_spec: { serial_remediation: true },
    };
    expect(remediationPolicy(previous, {})).to.deep.equal({ ...previous, failure_action: { action: "FAIL" } });
  });

  it("uses the place that newer products have, and never both", () => {
    const previous = {
      enforce_hcl_validation: false,
      enforce_quick_patch: false,
      software_policy_spec: {
        skip_reserved_vibs_caching: true,
        live_patch_action: { live_patch_mode: "AUTO_LIVE_PATCH" },
      },
    };
    expect(remediationPolicy(previous, { enforceHclValidation: true, enableQuickPatch: true })).to.deep.equal({
      failure_action: { action: "FAIL" },
      software_policy_spec: {
        skip_reserved_vibs_caching: true,
        enforce_hcl_validation: true,
        live_patch_action: { live_patch_mode: "ENFORCE_LIVE_PATCH" },
      },
    });
    const off = remediationPolicy(previous, { enableQuickPatch: false });
    expect(off["software_policy_spec"]).to.deep.include({
      live_patch_action: { live_patch_mode: "DISABLE_LIVE_PATCH" },
    });
    expect(off["enforce_hcl_validation"]).to.equal(false);
  });

  it("does not change the policy that is to be put back", () => {
    const previous = Object.freeze({ software_policy_spec: Object.freeze({}), enable_quick_boot: false });
    remediationPolicy(previous, { enableQuickboot: true, enableQuickPatch: true });
    expect(previous).to.deep.equal({ software_policy_spec: {}, enable_quick_boot: false });
  });

  describe("of parallel remediation", () => {
    const on = { enabled: true, max_hosts: 4 };

    it("says how many hosts at once, or is switched off, because it would skip a host that is not in maintenance mode", () => {
      expect(parallelRemediation(3, {})).to.deep.equal({ enabled: true, max_hosts: 3 });
      expect(parallelRemediation(1, {})).to.equal(undefined);
      expect(parallelRemediation(1, { parallel_remediation_action: { enabled: false } })).to.equal(undefined);
      for (const effective of [
        { parallel_remediation_action: on },
        { software_policy_spec: { parallel_remediation_action: on } },
      ])
        expect(parallelRemediation(1, effective)).to.deep.equal({ enabled: false });
      // Switched off by an earlier run already: without a word of it our own policy would switch it on again.
      expect(parallelRemediation(1, {}, { parallel_remediation_action: on })).to.deep.equal({ enabled: false });
    });

    it("is put where the product keeps it, and nowhere else", () => {
      expect(remediationPolicy({ parallel_remediation_action: on }, {}, { enabled: false })).to.deep.equal({
        failure_action: { action: "FAIL" },
        parallel_remediation_action: { enabled: false },
      });
      const newer = { parallel_remediation_action: on, software_policy_spec: {} };
      expect(remediationPolicy(newer, {}, { enabled: true, max_hosts: 2 })).to.deep.equal({
        failure_action: { action: "FAIL" },
        software_policy_spec: { parallel_remediation_action: { enabled: true, max_hosts: 2 } },
      });
    });
  });
});
