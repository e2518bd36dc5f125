export { bannerOf } from './banner.ts'
export { openSandbox } from './sandbox.ts'
export { acme } from './world.ts'
