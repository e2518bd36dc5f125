import { readFileSync, writeFileSync } from 'node:fs'

/**
 * npm omits optional packages from the lock file when the registry mirrors only some platforms.
 * `npm ci` then refuses the file as out of date. `--write` adds the missing packages as optional,
 * at the version that their parent requires. Run it after `npm install`; a test checks the result.
 */
type Locked = {
  readonly dev?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const path = new URL('../package-lock.json', import.meta.url)
const platforms = ['linux', 'darwin', 'win32', 'android', 'freebsd', 'openharmony']
const processors: Readonly<Record<string, string>> = {
  amd64: 'x64',
  armeabi: 'arm',
  eabi: 'arm',
  gnueabihf: 'arm',
  musleabihf: 'arm',
}
const knownProcessors = ['arm', 'arm64', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x']

/** Optional packages that the lock file refers to but lacks. */
export function missingOptional(): string[] {
  const { packages } = readLock()
  return Object.entries(packages).flatMap(([parent, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        packages[`node_modules/${name}`] === undefined &&
        packages[`${parent}/node_modules/${name}`] === undefined,
    ),
  )
}

function readLock(): { packages: Record<string, Locked> } {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function completeLock(): void {
  const lock = readLock()
  for (const { dev, optionalDependencies = {} } of Object.values({ ...lock.packages })) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      lock.packages[`node_modules/${name}`] ??= entryOf(name, version, dev === true)
    }
  }
  const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1))
  lock.packages = Object.fromEntries(sorted)
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
}

/** Reads the platform from the name, as in `@biomejs/cli-linux-x64-musl`. */
function entryOf(name: string, version: string, dev: boolean): Locked {
  const words = name.split(/[-/]/)
  const processor = words
    .map((word) => processors[word] ?? word)
    .find((word) => knownProcessors.includes(word))
  const entry = {
    version,
    ...(processor !== undefined && { cpu: [processor] }),
    ...(dev && { dev }),
    ...(words.some((word) => word.startsWith('musl')) && { libc: ['musl'] }),
    ...(words.includes('gnu') && { libc: ['glibc'] }),
    optional: true,
    os: [words.find((word) => platforms.includes(word)) ?? 'none'],
  }
  return entry
}

if (process.argv.includes('--write')) completeLock()
