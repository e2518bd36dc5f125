import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { counted, limitsOf, otherEncoding } from '@bursar/base'
import { type AuditFault, type AuditFinding, type AuditHead, verifyAudit } from '@bursar/records'
import type { Command } from 'commander'
import { type CommonOptions, newCommand } from '../options.ts'
import { CommandFailed, type Output, printResult } from '../output.ts'
import { auditKeysOf, withArchive } from './with-archive.ts'

const limits = limitsOf({
  /** Findings of `audit verify --json` that are listed; the rest are counted. */
  auditFindingsListedMax: 1000,
})

type VerifyOptions = CommonOptions & { readonly heads?: string }

const advice: Readonly<Record<AuditFault, string>> = {
  changed: 'compare the line with the copy that was exported',
  removed: 'take the lines from the copy that was exported',
  cut: 'take the lines from the copy that was exported; a restore of a backup cuts chains too',
  unknown_key: 'find out who could write to the database: the program has no such key',
  anchor: 'find out who deleted the lines before it',
}

/** `audit verify`: whether the log is as it was written. */
export function auditVerifyCommand(output: Output): Command {
  const summary =
    'Check that no line of the audit log was edited, removed or moved. It reads beside a server.'
  const command = newCommand('verify', summary, [
    'audit verify',
    'audit verify --heads audit-heads.ndjson',
  ]).option(
    '--heads <file>',
    'Check that no end was cut off either, by the heads in a log or in the file of BURSAR_AUDIT_HEADS_FILE.',
  )
  return command.action(async (_options: VerifyOptions) => {
    // `audit --json verify` means the same as `audit verify --json`.
    const options = command.optsWithGlobals<VerifyOptions>()
    const { heads } = options
    if (heads !== undefined && !existsSync(heads))
      throw new CommandFailed(`there is no file ${heads}`)
    const listed: object[] = []
    const found = (finding: AuditFinding) => {
      if (listed.length < limits.auditFindingsListedMax) listed.push(documentOf(finding))
      if (options.json !== true) output.print(textOf(finding))
    }
    const checked = await withArchive(options, async ({ reader, keyring }) => {
      const keyOf = auditKeysOf(await keyring())
      return verifyAudit({ reader, keyOf, heads: headsIn(heads), found })
    })
    if (heads !== undefined && checked.heads === 0) {
      throw new CommandFailed(`${heads} has no head of an audit chain`)
    }
    const { findings } = checked
    const what = `${counted(checked.lines, 'line')} of ${counted(checked.chains, 'chain')} checked`
    const against =
      heads === undefined
        ? 'without --heads, an end that was cut off shows no trace'
        : `compared with ${counted(checked.heads, 'head')}`
    printResult(output, options, { ...checked, faults: listed }, [`${what}; ${against}`])
    if (findings === 0) return
    throw new CommandFailed(
      `${counted(findings, 'finding')}: the audit log is not as it was written; keep a copy of the database, and see docs/running.md`,
    )
  })
}

const documentOf = ({ fault, chain, sequence, detail }: AuditFinding) => ({
  fault,
  chain,
  sequence: Number(sequence),
  detail,
  what_to_do: advice[fault],
})

const textOf = ({ fault, chain, sequence, detail }: AuditFinding): string =>
  `${fault}  chain ${chain}, line ${sequence}: ${detail}; ${advice[fault]}`

/** The heads of a file of heads, or of the lines of a log, which may have others. */
async function* headsIn(path: string | undefined): AsyncIterable<AuditHead> {
  if (path === undefined) return
  for await (const start of createReadStream(path, { end: 1 })) {
    const fault = otherEncoding(start)
    if (fault !== undefined) throw new CommandFailed(`${path} ${fault}`)
  }
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Infinity,
  })) {
    const head = readHead(line.replace(/^\uFEFF/, ''))
    if (head !== undefined) yield head
  }
}

function readHead(line: string): AuditHead | undefined {
  if (!line.includes('"digest"') || line.length > HEAD_LENGTH_MAX) return undefined
  try {
    const { chain, sequence, digest } = JSON.parse(line)
    const isHead = typeof chain === 'string' && typeof digest === 'string'
    if (!isHead || !Number.isSafeInteger(sequence)) return undefined
    return { chain, sequence: BigInt(sequence), digest }
  } catch {
    return undefined
  }
}

/** A line with a head has some 200 characters, and what a collector of logs adds. */
const HEAD_LENGTH_MAX = 10_000
