import { existsSync, statSync } from 'node:fs'
import { type Check, commandHint, type Finding, isOpenToOthers, refusalOf } from '@bursar/base'
import { requireUsable } from '../database.ts'
import { lackedSteps } from '../migrate.ts'
import { filesOf, keyFileBeside, requireFiles, type StorePaths } from './require-files.ts'

/** Checks the files of the embedded store for `doctor`. Changes nothing. */
export const embeddedChecks = (paths: StorePaths): readonly Check[] => [
  { name: 'store', find: () => refusalOf(() => requireFiles(paths)) },
  { name: 'schema', find: () => schemaFindings(paths) },
  { name: 'files', find: () => fileFindings(paths) },
]

async function schemaFindings({ records, credentials }: StorePaths): Promise<readonly Finding[]> {
  const lacked: string[] = []
  const open = await refusalOf(() => [records, credentials].forEach(requireUsable))
  // The check of the store reports it. A log that SQLite adds has the mode of the file.
  if (open.length > 0) return []
  const refused = await refusalOf(() => {
    lacked.push(...lackedSteps(records, 'records'), ...lackedSteps(credentials, 'credentials'))
  })
  if (lacked.length === 0) return refused
  const finding = {
    what: `the store lacks steps of the schema: ${lacked.join(', ')}`,
    why: 'the next command that opens the store applies them, which may take long',
    fix: `stop its server, then run ${commandHint('migrate')}`,
  }
  return [...refused, finding]
}

/** Where root owns the folder, as with `fsGroup`, this process writes by the right of its group. */
function fileFindings(paths: StorePaths): readonly Finding[] {
  const [folder = '', ...files] = filesOf(paths)
  const keyFile = keyFileBeside(paths)
  if (!existsSync(folder)) return []
  const { mode, uid } = statSync(folder)
  const written = uid === process.getuid?.() ? 0o022 : 0o002
  const isFolderOpen = process.platform !== 'win32' && (mode & written) !== 0
  const open = [...files, keyFile].filter((file) => {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats !== undefined && isOpenToOthers(stats.mode)
  })
  return [
    ...(isFolderOpen
      ? [
          {
            what: `other users can write in ${folder}`,
            why: 'they can replace the files of the store',
            fix: `run \`chmod go-w ${folder}\``,
          },
        ]
      : []),
    ...open.map((file) => ({
      what: `other users can read or write ${file}`,
      why: file === keyFile ? 'it opens every key of the store' : 'it is a file of the store',
      fix: `run \`chmod 600 ${file}\`${file === keyFile ? ', and change the master key if someone may have read it (docs/running.md)' : ''}`,
    })),
  ]
}
