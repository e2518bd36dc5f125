import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Draws `docs/growth.svg` from `bench/results/growth.json`: the rate of each kind of work with more
 * and more records, as a share of its rate with the fewest.
 */
type Rates = Readonly<Record<string, number>>
const measured: readonly Rates[] = JSON.parse(readFileSync('bench/results/growth.json', 'utf8'))
const lines = { get: '#2563eb', list: '#059669', quote: '#d97706', import: '#a21caf' }

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT] = [720, 360, 60, 24, 48, 110]
const first = measured[0] ?? {}
const sizes = measured.map(({ records = 0 }) => records)
const [smallest, largest] = [Math.log10(Math.min(...sizes)), Math.log10(Math.max(...sizes))]
const SHARE_MAX = 2

const x = (records: number) =>
  LEFT + ((Math.log10(records) - smallest) / (largest - smallest)) * (WIDTH - LEFT - RIGHT)
const y = (share: number) =>
  HEIGHT - BOTTOM - (Math.min(share, SHARE_MAX) / SHARE_MAX) * (HEIGHT - TOP - BOTTOM)
const shareOf = (rates: Rates, what: string) => (rates[what] ?? 0) / (first[what] ?? 1)
const text = (at: readonly [number, number], words: string, more = '') =>
  `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" ${more}>${words}</text>`

const grid = [0, 0.5, 1, 1.5, 2].map(
  (share) =>
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(share)}" y2="${y(share)}" class="grid"/>${text([LEFT - 8, y(share) + 4], `${share * 100} %`, 'text-anchor="end"')}`,
)
const ticks = sizes.map((records) =>
  text([x(records), HEIGHT - BOTTOM + 20], records.toLocaleString('en'), 'text-anchor="middle"'),
)
const last = measured.at(-1) ?? first
const labels = Object.keys(lines).toSorted((a, b) => shareOf(last, b) - shareOf(last, a))
const plots = Object.entries(lines).map(([what, colour]) => {
  const points = measured.map(
    (rates) => `${x(rates.records ?? 1).toFixed(1)},${y(shareOf(rates, what)).toFixed(1)}`,
  )
  const at = y(1) + (labels.indexOf(what) - 1.5) * 18
  return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>
${points.map((point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="3" fill="${colour}"/>`).join('')}
${text([WIDTH - RIGHT + 12, at + 4], what, `style="fill:${colour}"`)}`
})
writeFileSync(
  'docs/growth.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" role="img" aria-label="Rates of gets, pages of 100, quotes and imports with more and more records.">
<style>text{fill:#374151}.grid{stroke:#d1d5db}@media(prefers-color-scheme:dark){text{fill:#d1d5db}.grid{stroke:#4b5563}}</style>
${[...grid, ...ticks, ...plots].join('\n')}
${text([(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8], 'records in the store', 'text-anchor="middle"')}
</svg>
`,
)
