import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { type Figure, resultsFile } from './figure.ts'

/**
 * Prints the figures of the last run beside those that were written before, for a person to judge.
 * `--empty` begins a run, and `--write` keeps its figures for the next comparison.
 */
const lastFile = new URL('last.json', import.meta.url).pathname

type Kept = { readonly at: string; readonly processor: string; readonly figures: readonly Figure[] }

const readLast = (): Kept | undefined =>
  existsSync(lastFile) ? JSON.parse(readFileSync(lastFile, 'utf8')) : undefined

const readResults = (): readonly Figure[] =>
  existsSync(resultsFile)
    ? readFileSync(resultsFile, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []

function printTable(figures: readonly Figure[], last: Kept | undefined): void {
  console.log(`${'figure'.padEnd(64)} ${'now'.padStart(9)} ${'last'.padStart(9)}  goal`)
  for (const { name, value, unit, goal, atLeast } of figures) {
    const before = last?.figures.find((one) => one.name === name)?.value
    const isShort = goal !== undefined && (atLeast ? value < goal : value > goal)
    const wanted = goal === undefined ? '' : `${atLeast ? '>=' : '<='} ${goal}`
    const columns = [name.padEnd(64), String(value).padStart(9), String(before ?? '').padStart(9)]
    console.log(`${columns.join(' ')}  ${wanted} ${unit}${isShort ? '  SHORT' : ''}`)
  }
}

if (process.argv.includes('--empty')) {
  rmSync(resultsFile, { force: true })
} else {
  const figures = readResults()
  const last = readLast()
  printTable(figures, last)
  if (last !== undefined) console.log(`last: ${last.at.slice(0, 10)}, ${last.processor}`)
  if (process.argv.includes('--write')) {
    const processor = `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`
    const kept: Kept = { at: new Date().toISOString(), processor, figures }
    writeFileSync(lastFile, `${JSON.stringify(kept, null, 2)}\n`)
  }
}
