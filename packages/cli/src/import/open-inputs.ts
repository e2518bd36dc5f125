import { globSync, lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { printable } from '@bursar/base'
import {
  openRecordFile,
  openRejectsFile,
  type RecordFile,
  type RejectedLine,
  type RejectsFile,
  UnreadableFile,
} from '@bursar/intake'
import type { TSchema } from 'typebox'
import { CommandFailed } from '../output.ts'

export type Inputs = {
  readonly paths: readonly string[]
  readonly files: readonly RecordFile[]
  /** The size of all files that are not compressed; undefined with a compressed file or stdin. */
  readonly bytesTotal: number | undefined
  readonly bytesRead: () => number
}

type Source = Parameters<typeof openRecordFile>[2]

/** Opens the files. A pattern such as `day-*.csv` is every file that it matches, by name. */
export async function openInputs(
  patterns: readonly string[],
  schema: TSchema,
  source: Source & { readonly stdin: Readable },
): Promise<Inputs> {
  const paths = patterns.flatMap(pathsOf)
  const files: RecordFile[] = []
  for (const path of paths) {
    files.push(
      await openRecordFile(path, schema, source).catch((error: unknown) => {
        throw error instanceof UnreadableFile ? new CommandFailed(error.message) : error
      }),
    )
  }
  const sizes = files.map(({ bytesTotal }) => bytesTotal ?? Number.NaN)
  const bytesTotal = sizes.reduce((sum, size) => sum + size, 0)
  return {
    paths,
    files,
    bytesTotal: Number.isNaN(bytesTotal) ? undefined : bytesTotal,
    bytesRead: () => files.reduce((sum, file) => sum + file.bytesRead(), 0),
  }
}

/** A shell that finds no match passes the pattern on, and a quoted one is never the shell's. */
function pathsOf(pattern: string): readonly string[] {
  if (!/[*?[\]{}]/.test(pattern) || exists(pattern)) return [pattern]
  const found = globSync(pattern).toSorted()
  return found.length > 0 ? found : [pattern]
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

export type Rejects = {
  add(rejected: RejectedLine): void
  /** Completes the files and returns their paths, by the number of the input. */
  end(areOthersStored: boolean): ReadonlyMap<number, string>
  discard(): void
}

/** One file of rejected records for each input that has one, beside it or in the folder. */
export function openRejects({ paths, files }: Inputs, folder: string | undefined): Rejects {
  const opened = new Map<number, RejectsFile>()
  const names = paths.map((path) => rejectsPath(path, folder))
  const taken = names.find((name, at) => exists(name) || names.indexOf(name) < at)
  if (taken !== undefined) throw new CommandFailed(alreadyThere(taken))
  const open = (file: number): RejectsFile => {
    const [path = '', input] = [names[file], files[file]]
    try {
      const header = () => input?.header()
      return openRejectsFile(path, { name: input?.name ?? '', header })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') throw new CommandFailed(alreadyThere(`${path}.partial`))
      const reason = `${printable(path, 1000)} cannot be written (${code}); nothing was changed`
      throw new CommandFailed(reason, { cause: error })
    }
  }
  return {
    add: (rejected) => {
      const file = opened.get(rejected.file) ?? open(rejected.file)
      opened.set(rejected.file, file)
      file.add(rejected)
    },
    end: (areOthersStored) => {
      for (const file of opened.values()) {
        file.end(
          areOthersStored
            ? 'the other records are stored; correct these and import this file'
            : 'nothing was stored; correct the records and import all of them',
        )
      }
      return new Map([...opened].map(([at, { path }]) => [at, path]))
    },
    discard: () => {
      for (const file of opened.values()) file.discard()
    },
  }
}

const alreadyThere = (path: string): string =>
  `${printable(path, 1000)} already exists; move it away, or name another folder with --rejects`

/** `accounts.csv.gz` has `accounts.csv.gz.rejects.csv`. Records of an array get a line each. */
function rejectsPath(path: string, folder = path === '-' ? '.' : dirname(path)): string {
  const name = path === '-' ? 'stdin' : basename(path)
  return join(folder, `${name}.rejects.${/\.csv(\.gz)?$/.test(path) ? 'csv' : 'ndjson'}`)
}
