import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreFiles } from '@bursar/records'
import { restoreMarker } from '../database.ts'
import { besidePath, keyFileBeside, type StorePaths } from '../files/require-files.ts'
import { carryLists } from './carry-lists.ts'
import { replaceFiles } from './replace-files.ts'
import { copySnapshot } from './snapshot.ts'

/** The default names of the two databases, so that an unpacked backup is a store. */
const names = ['bursar.db', 'bursar.credentials.db'] as const

/** The files of the store at these paths. */
export function sqliteFiles({ records, credentials }: StorePaths): StoreFiles {
  const paths = [records, credentials]
  const inFolder = (folder: string) =>
    paths.map((path, at) => ({ path, inFolder: join(folder, names[at] ?? '') }))
  return {
    path: records,
    keyFile: keyFileBeside({ records, credentials }),
    names,
    exist: () => paths.some((path) => existsSync(path) || existsSync(restoreMarker(path))),
    noteBackup: () => writeFileSync(noteOf(records), '', { mode: 0o600 }),
    lastBackupAt: () => {
      const note = statSync(noteOf(records), { throwIfNoEntry: false, bigint: true })
      return note && note.mtimeNs / 1000n
    },
    copyTo: (folder) =>
      copySnapshot(inFolder(folder).map((file) => ({ from: file.path, to: file.inFolder }))),
    carryLists: (folder) => {
      const staged = inFolder(folder).find(({ path }) => path === credentials)
      return carryLists(credentials, staged?.inFolder ?? '')
    },
    replaceFrom: (folder) => {
      const copies = inFolder(folder).map((file) => ({ from: file.inFolder, to: file.path }))
      return replaceFiles(copies)
    },
  }
}

/** An empty file. Its time of change is that of the last backup. */
const noteOf = (records: string): string => besidePath(records, 'backed-up')
