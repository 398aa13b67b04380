/** One bar: its length, and what stands at its end. */
export interface Bar {
  /** One of the series. */
  readonly series: string;
  readonly value: number;
  readonly text: string;
}

export interface BarGroup {
  readonly label: string;
  readonly bars: readonly Bar[];
}

export interface BarChart {
  readonly title: string;
  readonly subtitle: string;
  /** What a length of 1 means: a line is drawn there. */
  readonly one: string;
  /** In the order of the legend, each with its colour. */
  readonly series: ReadonlyMap<string, string>;
  readonly groups: readonly BarGroup[];
}

const WIDTH = 900;
const LEFT = 270;
const RIGHT = 150;
const TOP = 112;
const BAR_HEIGHT = 17;
const BAR_GAP = 4;
const GROUP_GAP = 20;
const LEGEND_STEP = 140;
const MARGIN = 28;

/** A chart of horizontal bars in groups, as an SVG that stands by itself. */
export function renderBarChart(chart: BarChart): string {
  const longest = Math.max(1, ...chart.groups.flatMap(({ bars }) => bars.map((bar) => bar.value)));
  const unit = (WIDTH - LEFT - RIGHT) / longest;
  const rows: string[] = [];
  let y = TOP;
  for (const { label, bars } of chart.groups) {
    const middle = y + (bars.length * (BAR_HEIGHT + BAR_GAP)) / 2;
    rows.push(text(LEFT - 12, middle + 2, label, 'class="name" text-anchor="end"'));
    for (const bar of bars) {
      const width = Math.max(1, Math.round(bar.value * unit));
      const colour = chart.series.get(bar.series) ?? "#8a9aa3";
      rows.push(
        `<rect x="${LEFT}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2" fill="${colour}"/>`,
        text(LEFT + width + 8, y + BAR_HEIGHT - 4, bar.text, 'class="note"'),
      );
      y += BAR_HEIGHT + BAR_GAP;
    }
    y += GROUP_GAP;
  }
  const lineX = Math.round(LEFT + unit);
  const height = y + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(chart.title)}" font-family="'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif">
  <style>.title { font-size: 19px; font-weight: 600; fill: #1c2b33; } .name { font-size: 14px; fill: #1c2b33; } .note { font-size: 12.5px; fill: #4b5a62; }</style>
  <rect width="${WIDTH}" height="${height}" rx="14" fill="#f6f0e1"/>
  ${text(MARGIN, 38, chart.title, 'class="title"')}
  ${text(MARGIN, 60, chart.subtitle, 'class="note"')}
  ${legend([...chart.series]).join("\n  ")}
  <path d="M${lineX} ${TOP - 8} V${y - GROUP_GAP + 4}" stroke="#8c3b2a" stroke-width="1.5" stroke-dasharray="4 3"/>
  ${text(lineX, y, chart.one, 'class="note" text-anchor="middle"')}
  ${rows.join("\n  ")}
</svg>
`;
}

function legend(series: readonly (readonly [string, string])[]): readonly string[] {
  return series.map(([name, colour], index) => {
    const x = MARGIN + index * LEGEND_STEP;
    const box = `<rect x="${x}" y="76" width="12" height="12" rx="2" fill="${colour}"/>`;
    return box + text(x + 18, 87, name, 'class="note"');
  });
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escapeXml(content)}</text>`;
}

function escapeXml(content: string): string {
  return content
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
