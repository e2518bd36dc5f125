import { after, before } from 'node:test'
import { type ServiceOptions, startTestService, type TestService } from './harness.ts'

/**
 * The service of a file's tests, or of a suite's: started before the first of them and stopped
 * after the last. `prepare` runs as soon as it is started, since `node:test` does not wait for one
 * `before` of a file until it runs the next.
 */
export function describeService(
  options: ServiceOptions = {},
  prepare = async (_service: TestService) => {},
): TestService {
  let started: TestService | undefined
  const running = (): TestService => {
    if (started === undefined) throw new Error('the service runs in tests and hooks only')
    return started
  }
  before(async () => {
    started = await startTestService(options)
    await prepare(started)
  })
  after(() => started?.stop())
  return {
    get url() {
      return running().url
    },
    get operatorUrl() {
      return running().operatorUrl
    },
    get parts() {
      return running().parts
    },
    get place() {
      return running().place
    },
    call: (...called) => running().call(...called),
    tokenOf: (...asked) => running().tokenOf(...asked),
    clockChanged: () => running().clockChanged(),
    stop: () => running().stop(),
  }
}
