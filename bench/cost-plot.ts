/** Seconds that upgrades of so many hosts took, with the service and without. */
export interface CostPoint {
  readonly hosts: number;
  readonly ours: number;
  readonly reference: number;
}

const size = { width: 640, height: 360, left: 70, right: 170, top: 24, bottom: 48 };
/** Axes go up in such steps. */
const step = 4;

/**
 * A drawing (SVG) of time against number of hosts, both axes logarithmic: what grows in proportion is a straight line of slope one. By hand,
 * because libraries for it want a browser's document.
 */
export function costPlot(points: readonly CostPoint[]): string {
  const times = points.flatMap(({ ours, reference }) => [ours, reference]);
  const x = axis(
    points.map(({ hosts }) => hosts),
    size.left,
    size.width - size.right,
  );
  const y = axis(times, size.height - size.bottom, size.top);
  const line = (name: string, of: (point: CostPoint) => number, label: string) => {
    const places = points.map((point) => [x.place(point.hosts), y.place(of(point))] as const);
    const [endX, endY] = places.at(-1) ?? [0, 0];
    return [
      `<polyline class="${name}" points="${places.map((place) => place.map(written).join(",")).join(" ")}"/>`,
      ...places.map(([cx, cy]) => `<circle class="${name}" cx="${written(cx)}" cy="${written(cy)}" r="4"/>`),
      `<text x="${written(endX + 10)}" y="${written(endY + 4)}">${label}</text>`,
    ];
  };
  const bottom = size.height - size.bottom;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-labelledby="title">`,
    `<title id="title">Time to orchestrate an upgrade by its number of hosts</title>`,
    `<style>${style}</style>`,
    `<rect width="${size.width}" height="${size.height}"/>`,
    ...x.ticks.flatMap((tick) => [
      `<line x1="${written(x.place(tick))}" y1="${size.top}" x2="${written(x.place(tick))}" y2="${bottom}"/>`,
      `<text text-anchor="middle" x="${written(x.place(tick))}" y="${bottom + 18}">${tick}</text>`,
    ]),
    ...y.ticks.flatMap((tick) => [
      `<line x1="${size.left}" y1="${written(y.place(tick))}" x2="${size.width - size.right}" y2="${written(y.place(tick))}"/>`,
      `<text text-anchor="end" x="${size.left - 8}" y="${written(y.place(tick) + 4)}">${tick} s</text>`,
    ]),
    `<text text-anchor="middle" x="${(size.left + size.width - size.right) / 2}" y="${size.height - 8}">hosts of zero duration, 64 in a cluster</text>`,
    ...line("reference", ({ reference }) => reference, "bare Workflows"),
    ...line("ours", ({ ours }) => ours, "this service"),
    "</svg>",
    "",
  ].join("\n");
}

/** Where numbers lie between two places, and the numbers to write beside the axis. */
function axis(numbers: readonly number[], from: number, to: number) {
  const exponent = (number: number) => Math.log(number) / Math.log(step);
  const low = Math.floor(exponent(Math.min(...numbers)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(exponent(Math.max(...numbers)) - 1e-9));
  return {
    place: (number: number) => from + ((exponent(number) - low) / (high - low)) * (to - from),
    ticks: Array.from({ length: high - low + 1 }, (_, i) => step ** (low + i)),
  };
}

const written = (coordinate: number) => coordinate.toFixed(1);

const style = [
  "rect{fill:#fff}",
  "line{stroke:#ddd}",
  "text{font:12px sans-serif;fill:#333}",
  "polyline{fill:none;stroke-width:2}",
  ".ours{stroke:#0b62a4}circle.ours{fill:#0b62a4}",
  ".reference{stroke:#999;stroke-dasharray:5 4}circle.reference{fill:#999}",
].join("");
