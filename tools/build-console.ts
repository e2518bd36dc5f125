import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { build, type Metafile, type Plugin } from 'esbuild'

/**
 * Builds the console: scripts and styles, compressed, in the folder that the server reads them
 * from. They are checked in, because `npm ci --omit=dev && npm start` must serve them. With
 * `--check` it compares the content of the files and writes nothing.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const source = `${root}console/src/`
const target = `${root}packages/server/src/documents/console/assets/`

/** The path of a library's file below the checkout, which itself may lie anywhere. */
const pathBelowRoot = (path: string): string =>
  path.startsWith(root) ? path.slice(root.length) : ''

/** React Aria brings the texts of 30 languages, which are half of its size. */
const onlyEnglish: Plugin = {
  name: 'only-english',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[a-z]{2}-[A-Z]{2}\.mjs$/ }, ({ path }) => {
      const isText = /^node_modules\/.*intl\/.*\/[a-z]{2}-[A-Z]{2}\.mjs$/.test(pathBelowRoot(path))
      return isText && !path.endsWith('en-US.mjs') ? { contents: 'export default {}' } : undefined
    }),
}

/** The policy of the page allows no worker from a blob, so a workbook is compressed without one. */
const noWorker: Plugin = {
  name: 'no-worker',
  setup: ({ onLoad }) =>
    onLoad({ filter: /zipToArrayBuffer\.js$/ }, ({ path }) => {
      if (!/^node_modules\/.*zip\/zipToArrayBuffer\.js$/.test(pathBelowRoot(path))) return undefined
      return {
        contents: `import zip from './zipToArrayBufferSync.js'
        export default async (files) => zip(files)`,
        resolveDir: dirname(path),
      }
    }),
}

/** The name of each file, and its content. */
export async function buildConsole(): Promise<ReadonlyMap<string, Buffer>> {
  const built = await build({
    entryPoints: { console: `${source}main.ts`, style: `${source}style.css` },
    outdir: target,
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    jsx: 'automatic',
    target: 'es2022',
    write: false,
    logLevel: 'warning',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    // Digests in names must not depend on where the repository lies.
    absWorkingDir: root,
    metafile: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [onlyEnglish, noWorker],
  })
  const files = new Map<string, Buffer>(
    built.outputFiles.map(({ path, contents }) => [
      path.slice(target.length),
      Buffer.concat([compiledAtOnce(path), contents]),
    ]),
  )
  const named = (pattern: RegExp) => [...files.keys()].find((name) => pattern.test(name)) ?? ''
  const script = named(/^console-.*js$/)
  files.set(
    'index.html',
    pageOf(script, neededAtFirst(built.metafile, script), named(/^style-.*css$/)),
  )
  files.set('licenses.txt', licensesOf(Object.keys(built.metafile.inputs)))
  return files
}

/**
 * React is one function, which V8 would first skip and then compile while nothing else can run. By
 * this comment it compiles all functions of the file beside the page, while it loads them.
 */
const compiledAtOnce = (path: string): Buffer =>
  Buffer.from(basename(path).startsWith('open-root-') ? '//# allFunctionsCalledOnLoad\n' : '')

/** What a person may ask for. The page does not load it at first. */
const neededLater = /^(react-aria|spreadsheet|qr-code)-/

/** What the first script imports, and what that imports in its turn. */
function neededAtFirst({ outputs }: Metafile, script: string): readonly string[] {
  const found = new Set([script])
  for (const name of found) {
    const [, output] = Object.entries(outputs).find(([path]) => basename(path) === name) ?? []
    const imported = (output?.imports ?? []).map(({ path }) => basename(path))
    for (const path of imported) if (!neededLater.test(path)) found.add(path)
  }
  found.delete(script)
  return [...found]
}

/** The scripts that are needed at first are fetched beside each other. */
const pageOf = (script: string, imported: readonly string[], style: string): Buffer =>
  Buffer.from(
    readFileSync(`${source}index.html`, 'utf8')
      .replace('SCRIPT', script)
      .replace('STYLE', style)
      .replace(
        '</head>',
        `${imported.map((name) => `<link rel="modulepreload" href="${name}">\n`).join('')}</head>`,
      ),
  )

/** The licences of the packages in the bundle, each once. */
function licensesOf(inputs: readonly string[]): Buffer {
  const packages = new Set(
    inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  )
  const texts = [...packages].sort().map((name) => {
    const folder = `${root}node_modules/${name}/`
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    const { version, license } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'))
    const text = file === undefined ? license : readFileSync(folder + file, 'utf8').trim()
    return `${name} ${version}\n\n${text}\n`
  })
  return Buffer.from(texts.join('\n'))
}

/** The page is filled in by the server, so it is not compressed here. */
const storedName = (name: string): string => (name === 'index.html' ? name : `${name}.br`)

const compress = (content: Buffer): Buffer =>
  brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  })

function write(files: ReadonlyMap<string, Buffer>): void {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  for (const [name, content] of files) {
    const stored = name === 'index.html' ? content : compress(content)
    writeFileSync(target + storedName(name), stored)
    process.stdout.write(`${name} ${hash('sha256', content).slice(0, 8)}: ${stored.length} bytes\n`)
  }
}

/** Compares contents: another zlib may compress them to other bytes. */
function differences(files: ReadonlyMap<string, Buffer>): readonly string[] {
  const expected = [...files.keys()].map(storedName).sort()
  const found = readdirSync(target).sort()
  if (expected.join() !== found.join()) return [`has ${found.join(', ')}`]
  return [...files].flatMap(([name, content]) => {
    const stored = readFileSync(target + storedName(name))
    const own = name === 'index.html' ? stored : brotliDecompressSync(stored)
    return own.equals(content) ? [] : [`has another ${name}`]
  })
}

if (import.meta.main) {
  const files = await buildConsole()
  const stale = process.argv.includes('--check') ? differences(files) : []
  if (!process.argv.includes('--check')) write(files)
  for (const fault of stale) {
    process.stderr.write(`the built console ${fault}; run npm run -s console\n`)
    process.exitCode = 1
  }
}
