import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * Measures how many small faults the tests detect. Copies a checkout, applies one mutant at a time
 * and runs the tests of its area until one fails. Prints the score of each area and the mutants
 * that survived. The same seed chooses the same mutants.
 *
 *     node tools/mutation-score.ts --root DIR --seed 1 --mutants 25 --areas http,oauth
 */

type Area = { readonly sources: readonly string[]; readonly tests: readonly string[] }
type Operator = readonly [find: RegExp, replace: (found: string) => string]
type Mutant = {
  readonly file: string
  readonly at: number
  readonly found: string
  readonly operator: string
}
type TestFile = { readonly path: string; readonly milliseconds: number }

const AREAS: Readonly<Record<string, Area>> = {
  http: {
    sources: ['src/http/**/*.ts'],
    tests: ['test/operations/**/*.test.ts', 'test/contract/*.test.ts', 'test/http/*.test.ts'],
  },
  oauth: { sources: ['src/oauth/**/*.ts'], tests: ['test/oauth/*.test.ts'] },
  'store/sql': {
    sources: ['src/store/sql/**/*.ts', 'src/store/*.ts'],
    tests: [
      'test/store/{,sqlite/}*.test.ts',
      'test/intake/*.test.ts',
      'test/contract/{paging,same-answers,*-law}.test.ts',
      'test/operations/**/*.test.ts',
    ],
  },
  fees: {
    sources: ['src/fees/**/*.ts'],
    tests: ['test/fees/{,addresses/,schedule/,sources/}*.test.ts', 'test/operations/*fee.test.ts'],
  },
}

/** Replaces either member of a pair by the other. */
const swap = (...pairs: readonly (readonly [string, string])[]) => {
  const other = new Map(pairs.flatMap(([a, b]) => [[a, b] as const, [b, a] as const]))
  return (found: string) => found.replace(found.trim(), (token) => other.get(token) ?? token)
}
const negate = (found: string) => `if (!${found.trim().slice(3)}) `
const OPERATORS: Readonly<Record<string, Operator>> = {
  compare: [/ (===|!==|<|<=|>|>=) /g, swap(['===', '!=='], ['<', '<='], ['>', '>='])],
  'negate a condition': [/\bif \((?:[^()\n]|\([^()\n]*\))+\) /g, negate],
  'swap && and ||': [/ (&&|\|\|) /g, swap(['&&', '||'])],
  'flip a boolean': [/\b(true|false)\b/g, swap(['true', 'false'])],
  'throw nothing': [/\bthrow (?=\w)/g, () => 'void '],
  'number + 1': [/(?<![\w.$])\d[\d_]*(?![\w.])/g, (found) => `(${found}+1)`],
  'change a string': [/'[\w./ -]*'(?!:)/g, (found) => `${found.slice(0, -1)}~'`],
  'drop ??': [/ \?\? /g, () => ' && '],
  'plus or minus': [/ [+-] /g, swap(['+', '-'])],
}

/** A test file that takes longer on the unchanged checkout is left out. */
const FILE_MS_MAX = 20_000

const print = (line: string) => process.stdout.write(`${line}\n`)

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: '.' },
    seed: { type: 'string', default: '1' },
    mutants: { type: 'string', default: '25' },
    areas: { type: 'string', default: Object.keys(AREAS).join(',') },
  },
})
const directory = fs.mkdtempSync(join(tmpdir(), 'bursar-mutants-'))
const copy = join(directory, 'checkout')
copyCheckout(resolve(values.root))
try {
  for (const name of values.areas.split(',')) {
    const area = AREAS[name]
    if (area === undefined) throw new Error(`There is no area ${name}; use ${Object.keys(AREAS)}.`)
    await measureArea(name, area)
  }
} finally {
  fs.rmSync(directory, { recursive: true, force: true })
}

async function measureArea(name: string, area: Area): Promise<void> {
  const tests = await timeTests(area.tests)
  const mutants = chooseMutants(filesOf(area.sources), Number(values.mutants))
  let killed = 0
  for (const mutant of mutants) {
    if (await survives(mutant, tests)) print(`  survived: ${describe(mutant)}`)
    else killed += 1
  }
  const percent = ((100 * killed) / mutants.length).toFixed(0)
  print(`${name}: ${killed} of ${mutants.length} killed (${percent} %), ${tests.length} test files`)
}

/** Runs each file once on the unchanged copy. Returns those that pass, fastest first. */
async function timeTests(patterns: readonly string[]): Promise<TestFile[]> {
  const timed: TestFile[] = []
  for (const path of filesOf(patterns)) {
    const started = performance.now()
    const isPassed = await passes(path, FILE_MS_MAX)
    if (isPassed) timed.push({ path, milliseconds: performance.now() - started })
    else print(`  left out (fails or takes more than ${FILE_MS_MAX / 1000} s unchanged): ${path}`)
  }
  return timed.sort((a, b) => a.milliseconds - b.milliseconds)
}

/** Draws an operator first and then a place, so that frequent operators do not dominate. */
function chooseMutants(files: readonly string[], count: number): Mutant[] {
  const random = randomNumbers(Number(values.seed))
  const places = Object.entries(OPERATORS)
    .map(([operator, [find]]) =>
      files.flatMap((file) =>
        [...codeOf(file).matchAll(find)].map(({ index, 0: found }) => ({
          file,
          at: index,
          found,
          operator,
        })),
      ),
    )
    .filter((ofOperator) => ofOperator.length > 0)
  const chosen: Mutant[] = []
  while (chosen.length < count && places.some((ofOperator) => ofOperator.length > 0)) {
    const ofOperator = places[random(places.length)] ?? []
    chosen.push(...ofOperator.splice(random(ofOperator.length), 1))
  }
  return chosen
}

async function survives(mutant: Mutant, tests: readonly TestFile[]): Promise<boolean> {
  const { file, at, found } = mutant
  const path = join(copy, file)
  const original = fs.readFileSync(path, 'utf8')
  const code = runnable(file)
  fs.writeFileSync(path, code.slice(0, at) + replacementOf(mutant) + code.slice(at + found.length))
  try {
    for (const test of tests) {
      if (!(await passes(test.path, 3 * test.milliseconds + 10_000))) return false
    }
    return true
  } finally {
    fs.writeFileSync(path, original)
  }
}

/** Kills the test file and its child processes at the first failure or at the timeout. */
async function passes(test: string, timeoutMs: number): Promise<boolean> {
  const child = spawn(process.execPath, ['--test-reporter=tap', test], {
    cwd: copy,
    env: { ...process.env, TMPDIR: directory, BURSAR_TEST_STORE: 'sqlite' },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const killGroup = () => killProcessGroup(child.pid)
  const timer = setTimeout(killGroup, timeoutMs)
  child.stdout.on('data', (text) => {
    if (/^\s*not ok/m.test(String(text))) killGroup()
  })
  const [status] = await once(child, 'exit')
  clearTimeout(timer)
  killGroup()
  return status === 0
}

/** Not the command `kill`: that of Debian reads `-9 -123` as process -1, which is every process. */
function killProcessGroup(leader: number | undefined): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // The group has ended already.
  }
}

function describe(mutant: Mutant): string {
  const { file, at, found, operator } = mutant
  const before = runnable(file).slice(0, at)
  const [text = ''] = runnable(file)
    .slice(before.lastIndexOf('\n') + 1)
    .split('\n')
  const change = `${found.trim()} -> ${replacementOf(mutant).trim()}`
  return `${file}:${before.split('\n').length} ${operator}: ${change} in ${text.trim()}`
}

function replacementOf({ operator, found }: Mutant): string {
  return OPERATORS[operator]?.[1](found) ?? found
}

/** The file without its types; every line and column stays where it is. */
function runnable(file: string): string {
  return stripTypeScriptTypes(fs.readFileSync(join(copy, file), 'utf8'))
}

/** The code that operators search: comments, imports and re-exports are blanked out. */
function codeOf(file: string): string {
  const skipped =
    /'(?:[^'\\\n]|\\.)*'|\/\*[\s\S]*?\*\/|\/\/[^\n]*|^(?:im|ex)port [^;]*? from '[^']*'/gm
  return runnable(file).replace(skipped, (text) =>
    text.startsWith("'") ? text : text.replaceAll(/[^\n]/g, ' '),
  )
}

function filesOf(patterns: readonly string[]): string[] {
  return [...new Set(patterns.flatMap((pattern) => fs.globSync(pattern, { cwd: copy })))].sort()
}

function copyCheckout(root: string): void {
  const isCopied = (path: string) => !/\/(node_modules|\.git)$/.test(path)
  fs.cpSync(root, copy, { recursive: true, filter: isCopied })
  fs.symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
}

/** Mulberry32, a small seeded generator. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}
