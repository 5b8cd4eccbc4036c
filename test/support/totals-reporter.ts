import { writeFileSync } from "node:fs";
import { type MochaOptions, reporters, Runner, type Test } from "mocha";

/**
 * Prints one line a test as it ends, with the first line of its error below it where it failed; then the failures in full
 * and `N passed, N failed, N skipped`. With the reporter option `totals=FILE` the three numbers also go to that file as
 * JSON, for who runs several suites.
 */
class TotalsReporter extends reporters.Base {
  private skipped = 0;

  constructor(runner: Runner, options?: MochaOptions) {
    super(runner, options);
    const say = (line: string) => reporters.Base.consoleLog(line);
    runner.on(Runner.constants.EVENT_TEST_PASS, (test) => say(`  ok    ${test.fullTitle()}${slow(test)}`));
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test: Test, error: Error) => {
      say(`  FAIL  ${test.fullTitle()}`);
      say(`        ${String(error).split("\n", 1)[0]?.slice(0, 300)}`);
    });
    runner.on(Runner.constants.EVENT_TEST_PENDING, (test) => {
      this.skipped += 1;
      say(`  skip  ${test.fullTitle()}`);
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      if (this.failures.length > 0) reporters.Base.list(this.failures);
      const totals = { passed: this.stats.passes, failed: this.stats.failures, skipped: this.skipped };
      say(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
      const file = (options?.reporterOptions as { totals?: string } | undefined)?.totals;
      if (file !== undefined) writeFileSync(file, JSON.stringify(totals));
    });
  }
}

const slow = ({ duration = 0 }: Test) => (duration > 1_000 ? ` (${(duration / 1_000).toFixed(1)} s)` : "");

export = TotalsReporter;
