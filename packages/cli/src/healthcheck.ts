import {
  type Config,
  fetchBounded,
  httpUrlFault,
  isWildcard,
  limitsOf,
  systemTime,
  urlHost,
} from '@bursar/base'
import type { Command } from 'commander'
import { type CommonOptions, configOf, newCommand, refuseUsage } from './options.ts'
import { CommandFailed, type Output, printResult } from './output.ts'

const limits = limitsOf({
  /** How long `healthcheck` waits. Supervisors give a check some 30 s. */
  healthcheckMs: 5000,
  /** The answer of `/readyz` on the operator's port has a few kilobytes. */
  healthAnswerBytesMax: 1024 * 1024,
})

type HealthcheckOptions = CommonOptions & { readonly url?: string }

const description =
  'Ask the server of this configuration whether it is ready, for a container without curl. The exit code is 1 if it is not.'

export function healthcheckCommand(output: Output): Command {
  const command = newCommand('healthcheck', description, [
    'healthcheck',
    'healthcheck --url http://127.0.0.1:8081',
  ]).option('--url <url>', 'The server, if it is not at HOST and PORT of the configuration.')
  return command.action(async (options: HealthcheckOptions) => {
    const { url = serverOf(configOf(options)) } = options
    const fault = options.url && httpUrlFault(options.url)
    refuseUsage(command, fault && `--url ${fault}.`)
    const asked = new URL('/readyz', url).href
    try {
      using deadline = systemTime.deadline(limits.healthcheckMs)
      const answerBytesMax = limits.healthAnswerBytesMax
      await fetchBounded(asked, { signal: deadline.signal, answerBytesMax })
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'failed'
      throw new CommandFailed(`${asked} ${reason}`, { cause: error })
    }
    printResult(output, options, { ready: true, url: asked }, [`${asked} is ready`])
  })
}

/** The operator's port is open while customers' is not yet, or not any more. */
function serverOf({ host, port, operatorHost, operatorPort }: Config): string {
  const own =
    operatorPort === undefined ? { host, port } : { host: operatorHost, port: operatorPort }
  const reached = isWildcard(own.host) ? '127.0.0.1' : own.host
  return `http://${urlHost(reached)}:${own.port}`
}
