import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Checks the layout of `src/`: which folder imports which, import cycles (type imports included),
 * that every job on a timer is named, that problems come from their catalogue, and that no literal
 * is spread into a literal. The console and the client import nothing of it. Prints each fault and
 * exits with 1. Files per folder and lines per file are warnings: one thing may rightly be long.
 * The linter checks imports one file at a time and ignores type imports in cycles, so it cannot
 * hold these rules. If this file outgrows its size, dependency-cruiser can do most of it.
 */

/** What each adapter of the store may import. */
const adapter = [
  'store',
  'store/sql',
  'store/credentials',
  'store/merge',
  'store/versions',
  'store/schema',
  'resources',
  'contract',
  'vault',
  'values',
  'platform',
  'background',
]

/**
 * What each folder may import, besides itself. The longest prefix of a path decides which row
 * applies.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  values: [],
  platform: ['values'],
  background: ['platform'],
  contract: ['values', 'platform'],
  vault: ['platform'],
  fees: ['values', 'platform', 'background'],
  resources: ['contract', 'fees/addresses', 'values', 'platform'],
  operations: ['resources', 'contract', 'values', 'platform'],
  store: ['contract', 'vault', 'values', 'platform', 'background'],
  'store/sql': [
    'store',
    'store/schema',
    'resources',
    'contract',
    'vault',
    'fees/addresses',
    'values',
    'platform',
  ],
  'store/credentials': ['store', 'vault', 'values', 'platform'],
  'store/schema': ['store', 'resources', 'contract', 'platform'],
  'store/merge': [
    'store',
    'store/sql',
    'store/schema',
    'resources',
    'contract',
    'values',
    'platform',
  ],
  'store/versions': [
    'store',
    'store/sql',
    'store/schema',
    'store/merge',
    'resources',
    'contract',
    'values',
    'platform',
  ],
  'store/sqlite': adapter,
  'store/postgres': adapter,
  intake: ['store', 'resources', 'contract', 'values', 'platform'],
  'intake/files': ['intake', 'store', 'resources', 'contract', 'values', 'platform'],
  oauth: ['store', 'contract', 'vault', 'values', 'platform', 'background'],
  'withdrawal-fees': ['store', 'fees', 'contract', 'values', 'platform', 'background'],
  history: ['store', 'resources', 'contract', 'values', 'platform'],
  'intake/requests': [
    'intake',
    'intake/files',
    'history',
    'store',
    'resources',
    'contract',
    'values',
    'platform',
  ],
  'operator-works': [
    'intake/requests',
    'history',
    'withdrawal-fees',
    'operations',
    'resources',
    'store',
    'contract',
    'platform',
  ],
  http: ['operations', 'store', 'fees', 'contract', 'vault', 'values', 'platform', 'background'],
  verify: ['values', 'platform'],
  sandbox: [
    'http',
    'intake',
    'intake/files',
    'intake/requests',
    'oauth',
    'store',
    'operations',
    'resources',
    'contract',
    'fees',
    'vault',
    'values',
    'platform',
    'service',
  ],
  testing: ['sandbox', 'oauth', 'platform', 'service', 'stores'],
  cli: [
    'sandbox',
    'history',
    'withdrawal-fees',
    'intake',
    'intake/files',
    'oauth',
    'store',
    'resources',
    'contract',
    'fees',
    'verify',
    'vault',
    'values',
    'platform',
    'service',
    'stores',
    'background',
  ],
  service: [
    'http',
    'operator-works',
    'withdrawal-fees',
    'oauth',
    'intake',
    'operations',
    'resources',
    'store',
    'fees',
    'contract',
    'vault',
    'values',
    'platform',
    'stores',
    'background',
  ],
  stores: [
    'store',
    'store/sql',
    'store/sqlite',
    'store/postgres',
    'vault',
    'values',
    'platform',
    'background',
  ],
  bin: ['main', 'platform'],
  main: ['cli', 'stores', 'store', 'contract', 'vault', 'platform'],
}

/**
 * Folders that may import the web framework; `@fastify/busboy` stands alone and is no part of it.
 */
const webFramework = /^(fastify$|@fastify\/(?!busboy))/
const knowsWebFramework = /^src\/http\//

const FOLDER_FILES_MAX = 12
const FILE_LINES_MAX = 250

const files = globSync('src/**/*.ts').toSorted()
/** The packages of the repository that use the HTTP API only. */
const packageFiles = globSync('{console,sdk}/src/**/*.{ts,tsx}').toSorted()
const isGenerated = /^sdk\/src\/schema\.ts$/
const importsOf = new Map(files.map((file) => [file, readImports(file)]))
const faults = [
  ...files.flatMap(directionFaults),
  ...cycleFaults(),
  ...files.flatMap(problemFaults),
  ...files.flatMap(timerFaults),
  ...packageFiles.flatMap(packageFaults),
  ...globSync('{src,console,sdk,test,bench,tools}/**/*.{ts,tsx}', {
    exclude: ['**/node_modules/**'],
  }).flatMap(spreadFaults),
]
const warnings = [
  ...folderWarnings(),
  ...files
    .concat(packageFiles)
    .filter((file) => linesOf(file) > FILE_LINES_MAX && !isGenerated.test(file))
    .map((file) => `${file}: has ${linesOf(file)} lines. Does it hold two things?`),
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

/** `src/store/sql/staging.ts` belongs to `store/sql`, `src/store/records.ts` to `store`. */
function placeOf(file: string): string {
  const path = file.replace(/^src\//, '').replace(/\.(ts|json)$/, '')
  const places = Object.keys(allowed).filter(
    (name) => path.startsWith(`${name}/`) || (path === name && !isFolder(name)),
  )
  return places.toSorted((a, b) => b.length - a.length)[0] ?? path
}

/** A port such as `store/credentials.ts` is no part of the folder of the same name. */
function isFolder(name: string): boolean {
  return files.some((file) => file.startsWith(`src/${name}/`))
}

function directionFaults(file: string): string[] {
  const from = placeOf(file)
  const rules = allowed[from]
  if (rules === undefined) return [`${file}: no row of tools/check-layout.ts covers this file`]
  return (importsOf.get(file) ?? []).flatMap((target) => {
    if (!target.startsWith('src/')) {
      const isForeign = webFramework.test(target) && !knowsWebFramework.test(file)
      return isForeign ? [`${file}: only src/http may import ${target}`] : []
    }
    const to = placeOf(target)
    const isAllowed =
      to === from ||
      rules.some(
        (rule) => rule === to || (rule.startsWith(`${to}/`) && target.startsWith(`src/${rule}/`)),
      )
    return isAllowed ? [] : [`${file}: ${from} must not import ${target}`]
  })
}

/** A package imports itself and what npm installs. */
function packageFaults(file: string): string[] {
  const own = file.slice(0, file.indexOf('/src/') + '/src/'.length)
  return readImports(file)
    .filter((target) => /^(src|test|tools|console|sdk)\//.test(target) && !target.startsWith(own))
    .map((target) => `${file}: a package of its own must not import ${target}`)
}

/** The catalogue of problems decides on statuses. */
function problemFaults(file: string): string[] {
  const isCatalogue = file === 'src/contract/problem.ts'
  return isCatalogue || !readFileSync(file, 'utf8').includes('new Problem(')
    ? []
    : [`${file}: take a problem of src/contract/problem.ts, which decides on its status`]
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

/** `src/bin.ts` runs on every Node, before the program, and must import nothing of it. */
function timerFaults(file: string): string[] {
  if (file === 'src/background.ts' || file === 'src/bin.ts') return []
  const text = readFileSync(file, 'utf8')
  const isTimer = /\bsetInterval\(|import \{[^}]*\brepeat\b[^}]*\} from '[^']*schedule\.ts'/.test(
    text,
  )
  return isTimer ? [`${file}: name the job in src/background.ts, which starts its timer`] : []
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
      if (target.startsWith('src/')) visit(target, [...path, file])
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
