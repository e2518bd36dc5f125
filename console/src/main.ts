/** A turn of the browser between two parts of the script, in which it answers the person. */
const turn = () => new Promise((resolve) => setTimeout(resolve))

async function start(place: HTMLElement): Promise<void> {
  const { openRoot } = await import('./open-root.ts')
  await turn()
  const { app } = await import('./app.tsx')
  await turn()
  openRoot(place, app)
}

const place = document.getElementById('console')
if (place !== null) void start(place)
