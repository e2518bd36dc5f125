import { spawn } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
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
type Operator = { readonly find: RegExp; readonly replace: (found: string) => string }
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

const swap = (pairs: Readonly<Record<string, string>>) => (found: string) =>
  found.replace(found.trim(), pairs[found.trim()] ?? '')
const OPERATORS: Readonly<Record<string, Operator>> = {
  compare: {
    find: / (===|!==|<|<=|>|>=) /g,
    replace: swap({ '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>' }),
  },
  'negate a condition': {
    find: /\bif \((?:[^()\n]|\([^()\n]*\))+\) /g,
    replace: (found) => `if (!${found.trim().slice(3)}) `,
  },
  'swap && and ||': { find: / (&&|\|\|) /g, replace: swap({ '&&': '||', '||': '&&' }) },
  'flip a boolean': { find: /\b(true|false)\b/g, replace: swap({ true: 'false', false: 'true' }) },
  'throw nothing': { find: /\bthrow (?=\w)/g, replace: () => 'void ' },
  'number + 1': { find: /(?<![\w.$])\d[\d_]*(?![\w.])/g, replace: (found) => `(${found}+1)` },
  'change a string': { find: /'[\w./ -]*'(?!:)/g, replace: (found) => `${found.slice(0, -1)}~'` },
  'drop ??': { find: / \?\? /g, replace: () => ' && ' },
  'plus or minus': { find: / [+-] /g, replace: swap({ '+': '-', '-': '+' }) },
}

/** A test file that takes longer on the unchanged checkout is left out. */
const FILE_MS_MAX = 20_000

const { values } = parseArgs({
  options: {
    root: { type: 'string', default: '.' },
    seed: { type: 'string', default: '1' },
    mutants: { type: 'string', default: '25' },
    areas: { type: 'string', default: Object.keys(AREAS).join(',') },
  },
})
const directory = mkdtempSync(join(tmpdir(), 'bursar-mutants-'))
const copy = join(directory, 'checkout')
copyCheckout(resolve(values.root))
try {
  for (const name of values.areas.split(',')) {
    const area = AREAS[name]
    if (area === undefined) throw new Error(`There is no area ${name}; use ${Object.keys(AREAS)}.`)
    await measureArea(name, area)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function measureArea(name: string, area: Area): Promise<void> {
  const tests = await timeTests(area.tests)
  const mutants = chooseMutants(filesOf(area.sources), Number(values.mutants))
  const survivors: string[] = []
  for (const mutant of mutants) {
    if (await survives(mutant, tests)) survivors.push(describe(mutant))
  }
  const killed = mutants.length - survivors.length
  const percent = ((100 * killed) / mutants.length).toFixed(0)
  print(`${name}: ${killed} of ${mutants.length} killed (${percent} %), ${tests.length} test files`)
  for (const survivor of survivors) print(`  survived: ${survivor}`)
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
    .map(([operator, { find }]) =>
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
  const original = readFileSync(path, 'utf8')
  const code = runnable(file)
  writeFileSync(path, code.slice(0, at) + replacementOf(mutant) + code.slice(at + found.length))
  try {
    for (const test of tests) {
      if (!(await passes(test.path, 3 * test.milliseconds + 10_000))) return false
    }
    return true
  } finally {
    writeFileSync(path, original)
  }
}

/** Kills the test file and its child processes at the first failure or at the timeout. */
function passes(test: string, timeoutMs: number): Promise<boolean> {
  const environment = { ...process.env, TMPDIR: directory, BURSAR_TEST_STORE: 'sqlite' }
  const child = spawn(process.execPath, ['--test-reporter=tap', test], {
    cwd: copy,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The process group has ended already.
    }
  }
  const timer = setTimeout(end, timeoutMs)
  child.stdout.on('data', (text) => {
    if (/^\s*not ok/m.test(String(text))) end()
  })
  return new Promise((done) => {
    child.once('exit', (status) => {
      clearTimeout(timer)
      end()
      done(status === 0)
    })
  })
}

function describe(mutant: Mutant): string {
  const code = runnable(mutant.file)
  const line = code.slice(0, mutant.at).split('\n').length
  const text = code.split('\n')[line - 1]?.trim() ?? ''
  return `${mutant.file}:${line} ${mutant.operator}: ${mutant.found.trim()} -> ${replacementOf(mutant).trim()} in ${text}`
}

function replacementOf({ operator, found }: Mutant): string {
  return OPERATORS[operator]?.replace(found) ?? found
}

/** The file without its types; every line and column stays where it is. */
function runnable(file: string): string {
  return stripTypeScriptTypes(readFileSync(join(copy, file), 'utf8'))
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
  return [...new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: copy })))].sort()
}

function copyCheckout(root: string): void {
  const isCopied = (path: string) => !/\/(node_modules|\.git)$/.test(path)
  cpSync(root, copy, { recursive: true, filter: isCopied })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
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

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
