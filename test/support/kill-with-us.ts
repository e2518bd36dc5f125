import type { ChildProcess } from 'node:child_process'

/** Kills a server when this process ends, even by a crash, and cleans up after it. */
export function killWithUs(child: ChildProcess, cleanUp: () => void = () => {}): void {
  const kill = () => {
    child.kill('SIGKILL')
    cleanUp()
  }
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
}
