/** The environment in which a process finds the headless browser and the software adapter that come with it. */
export async function adapterEnvironment(): Promise<NodeJS.ProcessEnv> {
  const module: string = new URL("../../packages/tools/chromium.mjs", import.meta.url).href;
  const { unpackChromium } = (await import(module)) as {
    unpackChromium: (root: string) => NodeJS.ProcessEnv;
  };
  return unpackChromium(process.cwd());
}
