import type { Benchmark, FixtureBenchmark, Run } from "./benchmark";
import { withFixture } from "./fixture";
import type { Measurement } from "./measurement";

/** Called with what a benchmark has measured, or why it could not. */
export interface Listener {
  measured(benchmark: Benchmark, measurements: readonly Measurement[]): void;
  failed(benchmark: Benchmark, error: unknown): void;
}

/** Runs benchmarks one after another; those with the same fleet share a service, unless they run alone. One that fails stops no other. */
export async function runBenchmarks(chosen: readonly Benchmark[], run: Run, listener: Listener): Promise<void> {
  const attempt = async (benchmark: Benchmark, work: () => Promise<readonly Measurement[]>) => {
    const began = Date.now();
    process.stderr.write(`${benchmark.name} … `);
    try {
      listener.measured(benchmark, await work());
      process.stderr.write(`${Math.round((Date.now() - began) / 1000)} s\n`);
    } catch (error) {
      process.stderr.write("failed\n");
      listener.failed(benchmark, error);
    }
  };
  const groups = new Map<string, FixtureBenchmark[]>();
  for (const benchmark of chosen) {
    if ("measureAlone" in benchmark) await attempt(benchmark, () => benchmark.measureAlone(run));
    else {
      const shared = benchmark.alone ? benchmark.name : JSON.stringify(benchmark.fleet(run));
      groups.set(shared, [...(groups.get(shared) ?? []), benchmark]);
    }
  }
  for (const group of groups.values()) {
    const [first] = group;
    if (!first) continue;
    await withFixture(first.fleet(run), run, async (fixture) => {
      for (const benchmark of group) await attempt(benchmark, () => benchmark.measure(fixture, run));
    });
  }
}
