import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { constants, Script } from 'node:vm'
import { crc32 } from 'node:zlib'

/**
 * The program of the package: one script with its libraries, and V8's code cache of the functions
 * that a start calls. Compiling them takes half of a start. The cache is for one Node on one
 * platform. Any other Node compiles the script, and V8 rejects a cache that does not fit.
 */
export function programScript(folder: string): Script {
  const filename = programFile(folder)
  const source = readFileSync(filename)
  // The build writes ASCII only, which V8 stores in half of the space.
  return new Script(source.toString('latin1'), {
    filename,
    cachedData: readCache(folder, source),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
}

/** Runs the script, as Node runs a CommonJS module, and returns what it exports. */
export function exportsOf<T extends object>(script: Script, folder: string): T {
  const filename = programFile(folder)
  const module = { exports: {} as T }
  script.runInThisContext()(module.exports, createRequire(filename), module, filename)
  return module.exports
}

const programFile = (folder: string): string => join(folder, 'program.cjs')

export const cacheFile = (folder: string): string =>
  join(folder, `program.${process.version}-${process.platform}-${process.arch}.cache`)

/** The checksums of the script and of the cache, because V8 compares lengths only. */
const HEADER_BYTES = 8

/** Writes the cache of the functions that the script has called. */
export function writeCache(folder: string, script: Script): void {
  const cache = script.createCachedData()
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(crc32(readFileSync(programFile(folder))))
  header.writeUInt32LE(crc32(cache), 4)
  writeFileSync(cacheFile(folder), Buffer.concat([header, cache]))
}

function readCache(folder: string, source: Buffer): Buffer | undefined {
  let file: Buffer
  try {
    file = readFileSync(cacheFile(folder))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  if (file.length < HEADER_BYTES) return undefined
  const cache = file.subarray(HEADER_BYTES)
  const fits = file.readUInt32LE() === crc32(source) && file.readUInt32LE(4) === crc32(cache)
  return fits ? cache : undefined
}
