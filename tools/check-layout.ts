import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  adapterParts,
  consoleRows,
  entryNames,
  keptSmall,
  type Rows,
  serviceRows,
} from './layout/rules.ts'

/**
 * Checks the layout of `src/`, `console/` and `sdk/`: which folder imports which, import cycles
 * (type imports included), and that no two files have the same name. In `src/`, one file names the
 * timers of the system, every job on a timer is named, and problems come from their catalogue. No
 * literal is spread into a literal. In `test/`, each file of the gate is in a group, and none reads
 * or waits for real time. Prints each fault and exits with 1. Files per folder, lines per file and
 * small files with one importer are warnings: each asks a question that may have a good answer. The
 * linter checks imports one file at a time and ignores type imports in cycles, so it cannot hold
 * these rules.
 */

/**
 * Folders that may import the web framework; `@fastify/busboy` stands alone and is no part of it.
 */
const webFramework = /^(fastify$|@fastify\/(?!busboy))/
const knowsWebFramework = /^src\/http\//

const realTimeNames =
  /\bperformance\.now\b|\bDate\.now\b|\bsetTimeout\b|\bsetInterval\b|\btimers\/promises\b|\bAbortSignal\.timeout\b/g

/** The one file of the program that knows the system's time. */
const timeFile = 'packages/base/src/time.ts'

const FOLDER_FILES_MAX = 12
const FILE_LINES_MAX = 250
const SMALL_FILE_LINES = 40

/** The packages, each with the rows of its folders. The client has one folder. */
const packages: Readonly<Record<string, Rows | undefined>> = {
  src: serviceRows,
  'console/src': consoleRows,
  'sdk/src': undefined,
}

const everywhere = globSync('{src,console,sdk,test,figures,bench,tools}/**/*.{ts,tsx}', {
  exclude: ['**/node_modules/**'],
}).toSorted()
const files = everywhere.filter((file) => packageOf(file) !== undefined)
const serviceFiles = files.filter((file) => packageOf(file) === 'src')
const isGenerated = /^sdk\/src\/schema\.ts$/
const importsOf = new Map(everywhere.map((file) => [file, readImports(file)]))
const faults = [
  ...files.flatMap(directionFaults),
  ...cycleFaults(),
  ...nameFaults(),
  ...serviceFiles.flatMap(problemFaults),
  ...serviceFiles.flatMap(timerFaults),
  ...everywhere.flatMap(spreadFaults),
  ...everywhere.flatMap(realTimeFaults),
  ...files.filter((file) => packageOf(file) === 'sdk/src').flatMap(clientTimeFaults),
  ...groupFaults(),
]
const warnings = [
  ...folderWarnings(),
  ...files
    .filter((file) => linesOf(file) > FILE_LINES_MAX && !isGenerated.test(file))
    .map((file) => `${file}: has ${linesOf(file)} lines. Does it hold two things?`),
  ...smallFileWarnings(),
]
for (const fault of faults) process.stderr.write(`${fault}\n`)
for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`)
process.exitCode = faults.length === 0 ? 0 : 1

function readImports(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/(?:^|[\s;}])(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    ([, specifier = '']) =>
      specifier.startsWith('.') ? join(dirname(file), specifier) : specifier,
  )
}

function packageOf(file: string): string | undefined {
  return Object.keys(packages).find((root) => file.startsWith(`${root}/`))
}

/** `packages/records/src/merge/staging.ts` belongs to `store/merge`, `packages/records/src/records.ts` to `store`. */
function placeOf(file: string, root: string, rows: Rows): string {
  const path = file.slice(root.length + 1).replace(/\.(tsx?|json)$/, '')
  const places = Object.keys(rows).filter(
    (name) => path.startsWith(`${name}/`) || (path === name && !isFolder(`${root}/${name}/`)),
  )
  return places.toSorted((a, b) => b.length - a.length)[0] ?? path
}

/** A port such as `store/credentials.ts` is no part of the folder of the same name. */
function isFolder(folder: string): boolean {
  return files.some((file) => file.startsWith(folder))
}

/** A package imports itself and what npm installs, and its folders what their rows allow. */
function directionFaults(file: string): string[] {
  const root = packageOf(file) ?? ''
  const rows = packages[root]
  const from = rows && placeOf(file, root, rows)
  const allowed = from === undefined ? [] : rows?.[from]
  if (allowed === undefined) return [`${file}: no row of tools/layout/rules.ts covers this file`]
  return (importsOf.get(file) ?? []).flatMap((target) => {
    if (!/^(src|test|bench|tools|console|sdk)\//.test(target)) {
      const isForeign = webFramework.test(target) && !knowsWebFramework.test(file)
      return isForeign ? [`${file}: only packages/server/src may import ${target}`] : []
    }
    if (packageOf(target) !== root) return [`${file}: ${root} must not import ${target}`]
    if (rows === undefined) return []
    const to = placeOf(target, root, rows)
    const isAllowed =
      to === from ||
      allowed.some(
        (rule) =>
          rule === to || (rule.startsWith(`${to}/`) && target.startsWith(`${root}/${rule}/`)),
      )
    return isAllowed ? [] : [`${file}: ${from} must not import ${target}`]
  })
}

/** A command's file is named after its command, whatever other files are called. */
function nameFaults(): string[] {
  const nameOf = (file: string) => basename(file).replace(/\.tsx?$/, '')
  const named = files.filter(
    (file) => !file.startsWith('packages/cli/src/') && !entryNames.includes(nameOf(file)),
  )
  return [...Map.groupBy(named, nameOf)]
    .filter(([, same]) => same.length > 1)
    .filter(([name, same]) => !(adapterParts.includes(name) && same.every(isOfStore)))
    .map(([, same]) => `${same.join(', ')}: have the same name`)
}

function isOfStore(file: string): boolean {
  return file.startsWith('packages/records/src/')
}

function smallFileWarnings(): string[] {
  const importers = Map.groupBy(
    everywhere.flatMap((file) => (importsOf.get(file) ?? []).map((target) => ({ file, target }))),
    ({ target }) => target,
  )
  return files.flatMap((file) => {
    const by = importers.get(file) ?? []
    const isKept = Object.keys(keptSmall).some((kept) => file.startsWith(kept))
    return by.length === 1 && linesOf(file) < SMALL_FILE_LINES && !isKept
      ? [`${file}: is small, and only ${by[0]?.file} imports it. Does it belong there?`]
      : []
  })
}

/** The catalogue of problems decides on statuses. */
function problemFaults(file: string): string[] {
  const isCatalogue = file === 'packages/contract/src/problem.ts'
  return isCatalogue || !readFileSync(file, 'utf8').includes('new Problem(')
    ? []
    : [`${file}: take a problem of packages/contract/src/problem.ts, which decides on its status`]
}

/** A literal that is spread into a literal only keeps a line short. */
function spreadFaults(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, at) =>
      /^\s*\.\.\.(\{.*\},|\[.*\],|\{)$/.test(line)
        ? [`${file}:${at + 1}: write the members of the literal plainly`]
        : [],
    )
}

/** `packages/cli/src/bin.ts` runs on every Node, before the program, and must import nothing of it. */
function timerFaults(file: string): string[] {
  if (file === 'packages/base/src/background.ts' || file === timeFile) return []
  const text = readFileSync(file, 'utf8')
  const isJob = /import \{[^}]*\brepeat\b[^}]*\} from '[^']*schedule\.ts'/.test(text)
  return [
    ...(isJob
      ? [`${file}: name the job in packages/base/src/background.ts, which starts its timer`]
      : []),
    ...[
      ...new Set(
        [...text.matchAll(realTimeNames), ...text.matchAll(/\bnew Date\(\)/g)].map(String),
      ),
    ].map((name) => `${file}: names ${name}; only ${timeFile} names the timers of the system`),
  ]
}

/** A test of the gate neither reads nor waits for real time: a busy machine would decide on it. */
function realTimeFaults(file: string): string[] {
  const isOfGate = file.startsWith('test/') && !/^test\/(faults|release)\//.test(file)
  if (!isOfGate || file === 'test/support/until.ts') return []
  const names = readFileSync(file, 'utf8').match(realTimeNames) ?? []
  return [...new Set(names)].map(
    (name) => `${file}: names ${name}; wait for a condition with test/support/until.ts`,
  )
}

/** The client has a small file of its own, since it imports nothing from the program. */
function clientTimeFaults(file: string): string[] {
  const own = 'sdk/src/system-time.ts'
  const names =
    file === own || isGenerated.test(file) ? [] : readFileSync(file, 'utf8').match(realTimeNames)
  return [...new Set(names)].map((name) => `${file}: names ${name}; only ${own} names real time`)
}

/** A test file that no group names would never run; one that is named twice on a store, twice. */
function groupFaults(): string[] {
  const ran = globSync('test/groups/*.test.ts').flatMap((group) => {
    const [, store = '', list = ''] =
      /runGroup\(\s*import\.meta,\s*'(\w+)',([^)]*(?:\([^)]*\)[^)]*)*)\)\s*$/.exec(
        readFileSync(group, 'utf8'),
      ) ?? []
    return [...list.matchAll(/'([^']+)'/g)].flatMap(([, pattern = '']) =>
      globSync(pattern, { cwd: 'test' }).map((file) => `${store} ${file}`),
    )
  })
  const isElsewhere = /^test\/(browser|faults|release|groups)\//
  const missing = globSync('test/**/*.test.ts').filter(
    (file) => !isElsewhere.test(file) && !ran.some((one) => one.endsWith(` ${file.slice(5)}`)),
  )
  const twice = new Set(ran.filter((one, at) => ran.indexOf(one) !== at))
  return [
    ...missing.map((file) => `${file}: no group of test/groups/ runs it`),
    ...[...twice].map((one) => `test/groups/: two groups run ${one}`),
  ]
}

/** Depth-first search; a file that is reached again while it is on the path closes a cycle. */
function cycleFaults(): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      found.push(`import cycle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`)
      return
    }
    if (done.has(file)) return
    for (const target of importsOf.get(file) ?? []) {
      if (packageOf(target) !== undefined) visit(target, [...path, file])
    }
    done.add(file)
  }
  for (const file of files) visit(file, [])
  return found
}

function folderWarnings(): string[] {
  const byFolder = Map.groupBy(globSync('{src,console/src}/**/*.*'), (file) => dirname(file))
  return [...byFolder]
    .filter(([, inside]) => inside.length > FOLDER_FILES_MAX)
    .map(([folder, inside]) => `${folder}: has ${inside.length} files. What are its parts called?`)
}

function linesOf(file: string): number {
  return readFileSync(file, 'utf8').split('\n').length - 1
}
