import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { filesBehind, namesIn } from './layout/doors.ts'
import { consoleRows, entryNames, floors, keptSmall, type Rows } from './layout/rules.ts'

/**
 * Checks the layout of `packages/`, `console/` and `sdk/`: a package imports those below it, and
 * only through their doors; a door exports what other packages use, and nothing else. No import
 * cycles (type imports included), and no two files of a package with the same name. In the
 * packages, one file names the timers of the system, every job on a timer is named, and problems
 * come from their catalogue. No literal is spread into a literal. Each test file of the gate is in
 * a group, and none reads or waits for real time. Prints each fault and exits with 1. Files per
 * folder, lines per file and small files with one importer are warnings: each asks a question that
 * may have a good answer. The linter checks imports one file at a time and ignores type imports in
 * cycles, so it cannot hold these rules.
 */

/**
 * Packages that may import the web framework; `@fastify/busboy` stands alone and is no part of it.
 */
const webFramework = /^(fastify$|@fastify\/(?!busboy))/
const knowsWebFramework = /^packages\/server\//

const realTimeNames =
  /\bperformance\.now\b|\bDate\.now\b|\bsetTimeout\b|\bsetInterval\b|\btimers\/promises\b|\bAbortSignal\.timeout\b/g

/** The one file of the program that knows the system's time. */
const timeFile = 'packages/base/src/time.ts'

/** The one file that names the jobs which run on timers. */
const jobsFile = 'packages/base/src/background.ts'

/** A file of this repository, as an import names it once its path is whole. */
const ofRepository = /^(packages|test|bench|tools|console|sdk)\//

const FOLDER_FILES_MAX = 12
const FILE_LINES_MAX = 250
const SMALL_FILE_LINES = 40

const everywhere = globSync('{packages,console,sdk,test,figures,bench,tools}/**/*.{ts,tsx}', {
  exclude: ['**/node_modules/**'],
}).toSorted()
const textOf = new Map(everywhere.map((file) => [file, readFileSync(file, 'utf8')]))
const read = (file: string): string => textOf.get(file) ?? ''
const files = everywhere.filter((file) => rootOf(file) !== undefined)
const serviceFiles = files.filter((file) => file.startsWith('packages/'))
const doorFiles = readDoors()
const isGenerated = /^sdk\/src\/schema\.ts$/
const importsOf = new Map(everywhere.map((file) => [file, readImports(file)]))
const faults = [
  ...files.flatMap(directionFaults),
  ...floors.flatMap(doorFaults),
  ...floors.flatMap(dependencyFaults),
  ...cycleFaults(),
  ...nameFaults(),
  ...serviceFiles.flatMap(problemFaults),
  ...serviceFiles.flatMap(timerFaults),
  ...everywhere.flatMap(spreadFaults),
  ...everywhere.flatMap(realTimeFaults),
  ...files.filter((file) => rootOf(file) === 'sdk/src').flatMap(clientTimeFaults),
  ...groupFaults(),
]
const warnings = [
  ...folderWarnings(),
  ...files
    .filter(
      (file) => linesOf(file) > FILE_LINES_MAX && !isGenerated.test(file) && !doorFiles.has(file),
    )
    .map((file) => `${file}: has ${linesOf(file)} lines. Does it hold two things?`),
  ...smallFileWarnings(),
]
for (const fault of faults) process.stderr.write(`${fault}\n`)
for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`)
process.exitCode = faults.length === 0 ? 0 : 1

function readImports(file: string): readonly string[] {
  return [...read(file).matchAll(/(?:^|[\s;}])(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    ([, specifier = '']) =>
      specifier.startsWith('.') ? join(dirname(file), specifier) : specifier,
  )
}

/** `packages/fees/src` of a file of that package; a test is in none. */
function rootOf(file: string): string | undefined {
  return /^(?:packages\/[^/]+|console|sdk)\/src(?=\/)/.exec(file)?.[0]
}

/** What the packages export, by their `package.json`. */
function readDoors(): ReadonlySet<string> {
  const doors = globSync('packages/*/package.json').flatMap((file) => {
    const { exports } = readJson<{ readonly exports: Pins }>(file)
    return Object.values(exports).map((door) => join(dirname(file), door))
  })
  return new Set(doors)
}

/** A package imports itself, what npm installs, and the doors of the packages below it. */
function directionFaults(file: string): string[] {
  const root = rootOf(file) ?? ''
  const own = floors.indexOf(root.split('/')[1] ?? '')
  if (file.startsWith('packages/') && own < 0)
    return [`${file}: tools/layout/rules.ts has no floor of this package`]
  return (importsOf.get(file) ?? []).flatMap((target) => {
    const [, door] = /^@bursar\/([^/]+)/.exec(target) ?? []
    if (door !== undefined) {
      const floor = floors.indexOf(door)
      const isBelow = floor >= 0 && floor < own
      return isBelow ? [] : [`${file}: ${root} must not import ${target}, which is not below it`]
    }
    if (!ofRepository.test(target)) {
      const isForeign = webFramework.test(target) && !knowsWebFramework.test(file)
      return isForeign ? [`${file}: only packages/server may import ${target}`] : []
    }
    if (!target.startsWith(`${root}/`)) {
      return [`${file}: takes ${target} past its door; import the package by its name`]
    }
    return root === 'console/src' ? consoleFaults(file, target) : []
  })
}

/** The folders of the console import what their rows allow. */
function consoleFaults(file: string, target: string): string[] {
  const [from, to] = [placeOf(file, consoleRows), placeOf(target, consoleRows)]
  const allowed = consoleRows[from]
  if (allowed === undefined) return [`${file}: no row of tools/layout/rules.ts covers this file`]
  return to === from || allowed.includes(to) ? [] : [`${file}: ${from} must not import ${target}`]
}

/** `console/src/parts/list/row.tsx` belongs to `parts/list`. */
function placeOf(file: string, rows: Rows): string {
  const path = file.slice('console/src/'.length).replace(/\.tsx?$/, '')
  const places = Object.keys(rows).filter((name) => path === name || path.startsWith(`${name}/`))
  return places.toSorted((a, b) => b.length - a.length)[0] ?? path
}

/** What a door exports and no other package uses is a promise to nobody. */
function doorFaults(name: string): string[] {
  const doors = files.filter((file) => doorFiles.has(file) && file.startsWith(`packages/${name}/`))
  const outside = everywhere.filter((file) => !file.startsWith(`packages/${name}/`))
  const used = new Set(outside.flatMap((file) => namesFrom(file, `@bursar/${name}`)))
  return doors.flatMap((door) =>
    [...filesBehind(door).keys()]
      .filter((exported) => !used.has(exported))
      .map((exported) => `${door}: exports ${exported}, which no other package uses`),
  )
}

/**
 * A package lists what it imports, and libraries with the pin of the repository, which npm
 * installs.
 */
function dependencyFaults(name: string): string[] {
  const own = `packages/${name}/package.json`
  const { dependencies }: Manifest = readJson(own)
  const pinned = ['package.json', 'runtime/package.json'].map((file) => readJson<Manifest>(file))
  const pins: Pins = Object.assign(
    {},
    ...pinned.flatMap((file) => [file.devDependencies, file.dependencies]),
  )
  const ofPackage = files.filter((file) => file.startsWith(`packages/${name}/src/`))
  const imported = ofPackage.flatMap((file) => importsOf.get(file) ?? []).flatMap(libraryOf)
  const text = ofPackage.map(read).join('')
  return [
    ...[...new Set(imported)]
      .filter((library) => !(library in dependencies))
      .map((library) => `${own}: does not list ${library}`),
    ...Object.entries(dependencies).flatMap(([library, pin]) => [
      ...(text.includes(`'${library}`) ? [] : [`${own}: lists ${library}, which nothing imports`]),
      ...(library.startsWith('@bursar/') || pins[library] === pin
        ? []
        : [`${own}: pins ${library} to ${pin}, package.json to ${pins[library]}`]),
    ]),
  ]
}

type Pins = Readonly<Record<string, string>>
type Manifest = { readonly dependencies: Pins; readonly devDependencies?: Pins }

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** `jose` of `jose/errors`, and nothing of a file or of a module of Node. */
function libraryOf(specifier: string): string[] {
  const [found] = /^(@[\w-]+\/)?[\w-]+(?=\/|$)/.exec(specifier) ?? []
  return found === undefined || ofRepository.test(specifier) ? [] : [found]
}

/** The names that a file imports or reads from modules whose specifier begins so. */
function namesFrom(file: string, specifier: string): readonly string[] {
  const text = read(file)
  const listed = [
    ...text.matchAll(/(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/g),
    ...text.matchAll(/const \{([^}]*)\} = await import\('([^']+)'\)/g),
  ]
  const single = text.matchAll(/\(await import\('([^']+)'\)\)\.(\w+)/g)
  // A module that is loaded as a whole is read by any word of the file.
  const isWhole = text.includes(`=> import('${specifier}`)
  return [
    ...listed.flatMap(([, list = '', from = '']) =>
      from.startsWith(specifier) ? namesIn(list) : [],
    ),
    ...single.flatMap(([, from = '', name = '']) => (from.startsWith(specifier) ? [name] : [])),
    ...(isWhole ? (text.match(/\w+/g) ?? []) : []),
  ]
}

/** A command's file is named after its command, whatever other files are called. */
function nameFaults(): string[] {
  const nameOf = (file: string) => basename(file).replace(/\.tsx?$/, '')
  const named = files.filter(
    (file) => !file.startsWith('packages/cli/') && !entryNames.includes(nameOf(file)),
  )
  return [...Map.groupBy(named, (file) => `${rootOf(file)} ${nameOf(file)}`)]
    .filter(([, same]) => same.length > 1)
    .map(([, same]) => `${same.join(', ')}: have the same name`)
}

function smallFileWarnings(): string[] {
  const importers = Map.groupBy(
    everywhere.flatMap((file) => (importsOf.get(file) ?? []).map((target) => ({ file, target }))),
    ({ target }) => target,
  )
  return files.flatMap((file) => {
    const by = importers.get(file) ?? []
    const isKept = Object.keys(keptSmall).some((kept) => file.startsWith(kept))
    return by.length === 1 &&
      !doorFiles.has(by[0]?.file ?? '') &&
      linesOf(file) < SMALL_FILE_LINES &&
      !isKept
      ? [`${file}: is small, and only ${by[0]?.file} imports it. Does it belong there?`]
      : []
  })
}

/** The catalogue of problems decides on statuses. */
function problemFaults(file: string): string[] {
  const catalogue = 'packages/contract/src/problem.ts'
  return file === catalogue || !read(file).includes('new Problem(')
    ? []
    : [`${file}: take a problem of ${catalogue}, which decides on its status`]
}

/** A literal that is spread into a literal only keeps a line short. */
function spreadFaults(file: string): string[] {
  return read(file)
    .split('\n')
    .flatMap((line, at) =>
      /^\s*\.\.\.(\{.*\},|\[.*\],|\{)$/.test(line)
        ? [`${file}:${at + 1}: write the members of the literal plainly`]
        : [],
    )
}

/** A job on a timer has its name in one file, which starts it. */
function timerFaults(file: string): string[] {
  if (file === jobsFile || file === timeFile) return []
  const text = read(file)
  const isJob = /import \{[^}]*\brepeat\b[^}]*\} from '(?:[^']*schedule\.ts|@bursar\/base)'/.test(
    text,
  )
  return [
    ...(isJob ? [`${file}: name the job in ${jobsFile}, which starts its timer`] : []),
    ...[
      ...new Set(
        [...text.matchAll(realTimeNames), ...text.matchAll(/\bnew Date\(\)/g)].map(String),
      ),
    ].map((name) => `${file}: names ${name}; only ${timeFile} names the timers of the system`),
  ]
}

/** A test of the gate neither reads nor waits for real time: a busy machine would decide on it. */
function realTimeFaults(file: string): string[] {
  const isOfGate =
    /^(packages\/[^/]+\/)?test\//.test(file) && !/^test\/(faults|release)\//.test(file)
  if (!isOfGate || file === 'test/support/until.ts') return []
  const names = read(file).match(realTimeNames) ?? []
  return [...new Set(names)].map(
    (name) => `${file}: names ${name}; wait for a condition with test/support/until.ts`,
  )
}

/** The client has a small file of its own, since it imports nothing from the program. */
function clientTimeFaults(file: string): string[] {
  const own = 'sdk/src/system-time.ts'
  const names = file === own || isGenerated.test(file) ? [] : read(file).match(realTimeNames)
  return [...new Set(names)].map((name) => `${file}: names ${name}; only ${own} names real time`)
}

/** A test file that no group names would never run; one that is named twice on a store, twice. */
function groupFaults(): string[] {
  const ran = globSync('{test,packages/*/test}/groups/*.test.ts').flatMap((group) => {
    const cwd = dirname(dirname(group))
    const [, store = '', list = ''] =
      /runGroup\(\s*import\.meta,\s*'(\w+)',([^)]*(?:\([^)]*\)[^)]*)*)\)\s*$/.exec(read(group)) ??
      []
    return [...list.matchAll(/'([^']+)'/g)].flatMap(([, pattern = '']) =>
      globSync(pattern, { cwd }).map((file) => `${store} ${join(cwd, file)}`),
    )
  })
  const isElsewhere = /^test\/(browser|faults|release)\/|^(packages\/[^/]+\/)?test\/groups\//
  const missing = globSync('{test,packages/*/test}/**/*.test.ts').filter(
    (file) => !isElsewhere.test(file) && !ran.some((one) => one.endsWith(` ${file}`)),
  )
  const twice = new Set(ran.filter((one, at) => ran.indexOf(one) !== at))
  return [
    ...missing.map((file) => `${file}: no group of its test folder runs it`),
    ...[...twice].map((one) => `two groups run ${one}`),
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
      if (rootOf(target) !== undefined) visit(target, [...path, file])
    }
    done.add(file)
  }
  for (const file of files) visit(file, [])
  return found
}

function folderWarnings(): string[] {
  const byFolder = Map.groupBy(globSync('{packages/*/src,console/src}/**/*.*'), (file) =>
    dirname(file),
  )
  return [...byFolder]
    .filter(([, inside]) => inside.length > FOLDER_FILES_MAX)
    .map(([folder, inside]) => `${folder}: has ${inside.length} files. What are its parts called?`)
}

function linesOf(file: string): number {
  return read(file).split('\n').length - 1
}
