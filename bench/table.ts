import { globSync, readFileSync, writeFileSync } from 'node:fs'
import type { Reported } from './report.ts'

/**
 * Prints the table of docs/performance.md from the newest results of both stores and of
 * `bench/growth.ts`: `node bench/table.ts`. With `--write` it replaces the table in the page.
 */
type Growth = { readonly records: number; readonly list: number }

const page = 'docs/performance.md'
const heading = '## Goals and what was reached\n\n'

const newest = (store: string): readonly Reported[] => {
  const file = globSync(`bench/results/*-${store}.json`).toSorted().at(-1) ?? ''
  return JSON.parse(readFileSync(file, 'utf8')).rows
}
const [embedded, postgres] = [newest('embedded'), newest('postgres')]
const cells = [
  ['what', 'beside', 'embedded', 'ratio', 'PostgreSQL', 'ratio'],
  ...embedded.map((row) => {
    const other = postgres.find(({ name }) => name === row.name)
    const beside = row.reference.replace(/^\/s /, '')
    return [row.name, beside, ...cellsOf(row), ...(other ? cellsOf(other) : ['', ''])]
  }),
]
const growth = JSON.parse(readFileSync('bench/results/growth.json', 'utf8'))
cells.push(growthCells(growth.at(0), growth.at(-1)))
const widths = cells[0]?.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0))) ?? []
const lines = cells.map(
  (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |\n`,
)
const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |\n`
const table = [lines[0], rule, ...lines.slice(1)].join('')
if (process.argv[2] === '--write') {
  const [before = '', after = ''] = readFileSync(page, 'utf8').split(heading)
  writeFileSync(page, before + heading + after.replace(/^(\|.*\n)+/, table))
} else process.stdout.write(table)

function cellsOf({ ours, theirs, unit, ratio, least, most, goal, isShort }: Reported): string[] {
  const spread = `${ratio.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`
  const figures = `${print(ours)}${unit === '/s' ? unit : ` ${unit}`} of ${print(theirs)}`
  return [figures, `${spread}, goal ${goal}${isShort ? ', short' : ''}`]
}

function growthCells(fewest: Growth, most: Growth): string[] {
  const goal = 0.8
  const ratio = most.list / fewest.list
  const name = `cold pages of 100, at ${print(most.records)} records`
  const figures = `${print(most.list)}/s of ${print(fewest.list)}`
  const short = ratio < goal ? ', short' : ''
  const reached = `${ratio.toFixed(2)}, goal ${goal}${short}`
  return [name, `at ${print(fewest.records)}`, figures, reached, '', '']
}

function print(value: number): string {
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en')
}
