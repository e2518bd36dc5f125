import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pausing } from 'node:timers/promises'
import { cores } from '../../test/support/cores.ts'
import { freePort } from '../../test/support/free-port.ts'

/** Starts Debian's nginx with one worker, which serves the bodies as files `NAME.json`. */
export async function startNginx(
  folder: string,
  bodies: Readonly<Record<string, string>>,
): Promise<{ readonly url: string }> {
  for (const [name, body] of Object.entries(bodies)) {
    writeFileSync(join(folder, `${name}.json`), body, { mode: 0o644 })
  }
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; user root; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr crit;
     events { worker_connections 1024; }
     http {
       access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;
       open_file_cache max=1000;
       default_type application/json; client_body_temp_path ${folder}/nginx-body;
       server { listen 127.0.0.1:${port}; root ${folder}; }
     }`,
  )
  const child = spawn('taskset', ['-c', cores.server, 'nginx', '-c', file], { stdio: 'inherit' })
  process.once('exit', () => child.kill())
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(url).then(Boolean, () => false))) await pausing(20)
  return { url }
}
