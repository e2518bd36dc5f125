import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Check, type Finding, refusalOf } from '../../../platform/finding.ts'
import { isOpenToOthers } from '../../../platform/machine/private-files.ts'
import { commandHint } from '../../../platform/version.ts'
import { requireUsable } from '../database.ts'
import { lackedSteps } from '../migrate.ts'
import { besidePath, requireFiles, type StorePaths } from './require-files.ts'

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

function fileFindings({ records }: StorePaths): readonly Finding[] {
  const [folder, keyFile] = [dirname(records), besidePath(records, 'master-key')]
  if (!existsSync(folder)) return []
  const isFolderOpen = process.platform !== 'win32' && (statSync(folder).mode & 0o022) !== 0
  const isKeyOpen = existsSync(keyFile) && isOpenToOthers(statSync(keyFile).mode)
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
    ...(isKeyOpen
      ? [
          {
            what: `other users can read or write ${keyFile}`,
            why: 'it opens every key of the store',
            fix: `run \`chmod 600 ${keyFile}\`, and change the master key if someone may have read it (docs/running.md)`,
          },
        ]
      : []),
  ]
}
