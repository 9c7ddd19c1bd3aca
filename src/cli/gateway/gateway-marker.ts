/** Tells a program by which process it was started; the home says by which gateway. */
export const gatewayMarker = '_HERMES_GATEWAY';

/** What the programs of a gateway know of it: `hermes` means this one when they call it. */
export const markedEnvironment = (home: string): Readonly<Record<string, string>> => ({ HERMES_HOME: home, [gatewayMarker]: String(process.pid) });
